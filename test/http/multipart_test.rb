# frozen_string_literal: true

require "stringio"
require "tempfile"
require_relative "../support/http/peer"

class MultipartTest < PeltonTest
  include HttpPeer

  Multipart = Pelton::HTTP::Multipart

  def test_its_bytes
    form = Multipart.new({"a" => "value", :b => 5, "c" => StringIO.new("content")})
    boundary = form.type[/boundary=(.+)/, 1]
    expected = "--#{boundary}\r\ncontent-disposition: form-data; name=\"a\"\r\n\r\nvalue\r\n" \
      "--#{boundary}\r\ncontent-disposition: form-data; name=\"b\"\r\n\r\n5\r\n" \
      "--#{boundary}\r\ncontent-disposition: form-data; name=\"c\"; filename=\"c\"\r\n" \
      "content-type: application/octet-stream\r\n\r\ncontent\r\n--#{boundary}--\r\n"

    assert_equal expected, sent(form)
    assert_equal expected.bytesize, form.length
    assert_predicate form, :repeatable?
    assert_predicate form, :rereadable?
    assert_equal expected, sent(form)
  end

  # Whoever chooses a name adds no header and no part.
  def test_names_cannot_break_out
    evil = "x\"\r\n\r\n--y; \u00fc"
    form = sent(Multipart.new({evil => {content: "c", filename: evil}}))

    assert_equal 1, form.scan("x%22%0D%0A%0D%0A--y; \u00fc\"; filename=\"x%22%0D%0A%0D%0A--y; \u00fc\"\r\n").size
    assert_raises(ArgumentError) { Multipart.new({a: {content: "c", type: "text/plain\r\nx: y"}}) }
    assert_raises(ArgumentError) { Multipart.new({a: {content: "c", fliename: "x"}}) }
  end

  def test_a_part_whose_length_is_not_known
    reader, writer = IO.pipe
    writer.write("abc")
    writer.close
    form = Multipart.new({a: reader})

    assert_nil form.length
    refute_predicate form, :rereadable?
    assert_includes sent(form), "abc"
    refute_predicate form, :repeatable?
  ensure
    reader.close
  end

  # As Rack's parser reads it.
  def test_a_server_understands_it
    app = lambda do |env|
      got = Rack::Request.new(env).POST
      file = got["file"]
      [200, {},
        [[got["n"], got["tags"], file[:filename].dup.force_encoding("utf-8"), file[:type],
          file[:tempfile].read.sum, got["path"][:filename]].inspect]]
    end
    Tempfile.create("up") do |file|
      file.binmode.write(content = Random.new(1).bytes(200_000))
      file.flush
      serving(app, lint: false) do
        fields =
          [["n", 1], ["tags[]", %w[a b]],
            ["file", {content: File.open(file.path), filename: "n\"\u00e4.png", type: "image/png"}],
            ["path", Pathname(file.path)]]
        got = Pelton::HTTP.post("http://127.0.0.1:#{@port}/", multipart: fields).body

        assert_equal ["1", %w[a b], "n\"\u00e4.png", "image/png", content.sum, File.basename(file.path)].inspect,
          got.force_encoding("utf-8")
      end
    end
  end

  private

  def sent(form) = (+"").tap { |all| form.each { |piece| all << piece } }
end
