# frozen_string_literal: true

require "stringio"
require "tempfile"
require_relative "../../test_helper"
require "pelton/http"

class ClientBodyTest < PeltonTest
  Body = Pelton::HTTP::ClientBody
  NONE = Pelton::HTTP::ClientRequest::NONE

  def test_json_and_forms
    body, type = Body.for(nil, {a: [1]}, nil, nil)
    assert_equal '{"a":[1]}', sent(body)
    assert_equal "application/json", type
    assert_equal "null", sent(Body.for(nil, nil, nil, nil).first)
    body, type = Body.for(nil, NONE, {a: "b c", d: "&"}, nil)
    assert_equal "a=b+c&d=%26", sent(body)
    assert_equal "application/x-www-form-urlencoded", type
    assert_nil Body.for(nil, NONE, nil, nil)
    assert_raises(ArgumentError) { Body.for("x", NONE, {a: 1}, nil) }
  end

  def test_a_form_with_a_file_is_multipart
    [Body.for(nil, NONE, {a: StringIO.new("b")}, nil), Body.for(nil, NONE, {a: [StringIO.new("b")]}, nil),
      Body.for(nil, NONE, nil, {a: "b"})].each do |body, type|
      assert_match(%r{\Amultipart/form-data; boundary=}, type)
      assert_equal sent(body).bytesize, body.length
    end
  end

  def test_an_io_is_sent_from_where_it_stands
    io = StringIO.new("abcdef")
    io.read(2)
    body = Body.new(io)

    2.times { assert_equal "cdef", sent(body) }
    assert_equal 4, body.length
  end

  def test_an_io_that_has_become_shorter
    io = StringIO.new(+"abcdef")
    body = Body.new(io)
    io.truncate(3)

    assert_raises(IOError) { sent(body) }
  end

  def test_what_has_no_length_is_chunked
    reader, writer = IO.pipe
    writer.write("abc")
    writer.close
    body = Body.new(reader)

    assert_equal({"transfer-encoding" => "chunked"}, body.framing)
    assert_predicate body, :repeatable?
    assert_equal "3\r\nabc\r\n0\r\n\r\n", sent(body)
    refute_predicate body, :repeatable?
    assert_equal "2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", sent(Body.new(["ab", "", "c"].each))
  ensure
    reader.close
  end

  def test_a_path
    Tempfile.create("body") do |file|
      file.write("abc")
      file.flush
      body = Body.new(Pathname(file.path))

      2.times { assert_equal "abc", sent(body) }
      assert_equal({"content-length" => 3}, body.framing)
      assert_predicate body, :repeatable?
    end
  end

  def test_what_can_be_read_before_it_is_sent
    reader, writer = IO.pipe
    writer << "abc"
    writer.close
    form = ->(value) { Pelton::HTTP::Multipart.new({a: value}) }
    ["abc", Pathname(__FILE__), StringIO.new("abc"), form.call(StringIO.new("b"))]
      .each { |source| assert_predicate Body.new(source), :rereadable? }
    [reader, %w[ab c].each, form.call(reader)].each { |source| refute_predicate Body.new(source), :rereadable? }
    body = Body.new(reader).buffered

    2.times { assert_equal "3\r\nabc\r\n0\r\n\r\n", sent(body) }
    refute_predicate body, :repeatable?
  ensure
    reader.close
  end

  # An enumerator may yield one String again and again.
  def test_pieces_that_are_kept
    buffer = +""
    pieces = Enumerator.new { |all| %w[ab c].each { |piece| all << buffer.replace(piece) } }

    assert_equal "2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", sent(Body.new(pieces).buffered)
  end

  def test_what_is_no_body
    assert_raises(ArgumentError) { Body.new(5) }
    assert_match(/form:, json:/, assert_raises(ArgumentError) { Body.new({a: 1}) }.message)
    assert_match(/:a/, assert_raises(TypeError) { sent(Body.new(["x", :a])) }.message)
  end

  private

  def sent(body) = (+"").tap { |all| body.each_framed { |*pieces| pieces.each { |piece| all << piece } } }
end
