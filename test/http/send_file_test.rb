# frozen_string_literal: true

require "time"
require "tmpdir"
require_relative "../support/http/http2_peer"

# Responses that name a file by X-Sendfile or X-Accel-Redirect.
class HTTPSendFileTest < PeltonTest
  include Http2Peers

  CONTENT = Random.new(4).bytes(1_000_000)

  # A body that must not be read, and must be closed.
  class Unread
    attr_reader :closed

    def each = raise("the body was read")

    def close = @closed = true
  end

  # The block gets the response's headers of each request.
  def with_file(headers = {}, status: 200, allowed: true, body: Unread.new, **options)
    Dir.mktmpdir do |parent|
      @folder = "#{parent}/files"
      Dir.mkdir(@folder)
      File.binwrite("#{@folder}/a b.bin", CONTENT)
      File.write("#{parent}/secret", "secret")
      headers = {"content-type" => "application/pdf", "x-sendfile" => "FOLDER/a b.bin", **headers}
      headers = headers.transform_values { |value| value.sub("FOLDER", @folder) }
      options = {x_sendfile: [@folder], **options} if allowed
      serving(->(_env) { [status, headers, body] }, lint: false, **options) { yield body }
    end
  end

  def test_the_file_is_sent_and_the_body_is_closed_unread
    with_file({"content-length" => "3"}) do |body|
      response = peer.get("/")

      assert_equal CONTENT, response.body
      assert_equal 200, response.status
      assert_equal "application/pdf", response["content-type"]
      assert_equal CONTENT.bytesize.to_s, response["content-length"]
      assert_equal "bytes", response["accept-ranges"]
      assert_nil response["x-sendfile"]
      assert body.closed
    end
  end

  def test_without_the_setting_the_header_passes
    with_file(allowed: false, body: ["the body"]) do
      response = peer.get("/")

      assert_equal "the body", response.body
      assert_equal "#{@folder}/a b.bin", response["x-sendfile"]
    end
  end

  def test_conditions
    with_file do
      connection = peer
      first = connection.get("/")
      ["If-None-Match: #{first["etag"]}", "If-Modified-Since: #{first["last-modified"]}"].each do |header|
        response = connection.get("/", "#{header}\n")

        assert_equal 304, response.status, header
        assert_empty response.headers.keys & %w[content-length content-type x-sendfile], header
      end
      assert_equal 200, connection.get("/", "If-None-Match: \"x\"\n").status
    end
  end

  def test_the_applications_own_tag_counts
    with_file({"etag" => "\"mine\""}) do
      assert_equal 304, peer.get("/", "If-None-Match: \"mine\"\n").status
    end
  end

  def test_ranges
    with_file do
      connection = peer
      part = connection.get("/", "Range: bytes=5-9\n")

      assert_equal [206, CONTENT[5..9], "bytes 5-9/1000000"], [part.status, part.body, part["content-range"]]
      assert_equal [416, "bytes */1000000"],
        connection.get("/", "Range: bytes=1000000-\n").then { |response| [response.status, response["content-range"]] }
      assert_equal 206, connection.get("/", "Range: bytes=0-1\nIf-Range: #{part["etag"]}\n").status
      assert_equal 200, connection.get("/", "Range: bytes=0-1\nIf-Range: \"old\"\n").status
    end
  end

  def test_another_status_gets_the_whole_file
    with_file(status: 404) do
      response = peer.get("/", "Range: bytes=5-9\n")

      assert_equal [404, CONTENT], [response.status, response.body]
    end
  end

  def test_head
    with_file do
      response = peer.get("/", method: "HEAD")

      assert_equal [200, CONTENT.bytesize.to_s], [response.status, response["content-length"]]
    end
  end

  def test_http_2
    with_file do
      connection = http2(settings: {4 => 2**31 - 1}).open_window(0, 2**30)

      assert_equal CONTENT, connection.get("/").body
      assert_equal CONTENT[5..9], connection.get("/", fields: {"range" => "bytes=5-9"}).body
    end
  end

  def test_it_is_not_compressed_on_the_way
    with_file({"content-type" => "text/plain"}, gzip: true) do
      response = peer.get("/", "Accept-Encoding: gzip\n")

      assert_nil response["content-encoding"]
      assert_equal CONTENT, response.body
    end
  end

  # ---- what is not allowed

  def test_a_path_outside_of_the_folders
    with_file({"x-sendfile" => "FOLDER/../secret"}) do |body|
      assert_equal 500, peer.get("/").status
      assert_match(/secret lies in no folder that is allowed: add x_sendfile "#{File.dirname(@folder)}"/,
        reported.first.message)
      assert body.closed
    end
  end

  def test_a_link_that_leads_out
    with_file({"x-sendfile" => "FOLDER/link"}) do
      File.symlink("../secret", "#{@folder}/link")

      assert_equal 500, peer.get("/").status
      assert_match(/leads out of its folder/, reported.first.message)
    end
  end

  def test_a_file_that_is_missing
    log = StringIO.new
    Pelton.logger = Logger.new(log)
    with_file({"x-sendfile" => "FOLDER/none"}) do
      response = peer.get("/")

      assert_equal [404, "Not Found\n"], [response.status, response.body]
      assert_match(%r{x-sendfile: there is no file #{@folder}/none}, log.string)
    end
  ensure
    Pelton.logger = $stderr
  end

  def test_a_folder_that_is_missing
    error = assert_raises(ArgumentError) { Pelton::HTTP::Server.new(HELLO, x_sendfile: "/nowhere/at/all") }

    assert_match(%r{\Ax_sendfile: No such file or directory.*/nowhere/at/all}, error.message)
  end

  # ---- X-Accel-Redirect

  def with_mapped(url)
    Dir.mktmpdir do |folder|
      Dir.mkdir("#{folder}/deep")
      File.write("#{folder}/a b", "shallow")
      File.write("#{folder}/deep/c", "deep")
      map = {"/internal/" => folder, "/internal/other" => "#{folder}/deep"}
      serving(->(_env) { [200, {"X-Accel-Redirect" => url}, ["a body"]] }, lint: false, x_accel: map) do
        yield peer.get("/")
      end
    end
  end

  def test_urls_have_their_folders
    with_mapped("/internal/a%20b") do |response|
      assert_equal ["shallow", nil], [response.body, response["X-Accel-Redirect"]]
    end
    with_mapped("/internal/deep/c?x=1") { |response| assert_equal "deep", response.body }
    with_mapped("/internal/other/c") { |response| assert_equal "deep", response.body }
  end

  def test_urls_that_are_not_known
    with_mapped("/external/c") { |response| assert_equal 500, response.status }
    with_mapped("/internal/other/%2e%2e/a%20b") { |response| assert_equal 500, response.status }

    assert_match(%r{/external/c begins with no URL that is known: add x_accel "/external/"}, reported.first.message)
    assert_match(/leads out of its folder/, reported.last.message)
  end

  # ---- Rack's middleware, as Rails has it

  def test_racks_middleware
    Dir.mktmpdir do |folder|
      File.binwrite("#{folder}/a.bin", CONTENT)
      app = Rack::Sendfile.new(->(_env) { [200, {}, Rack::Files::Iterator.new("#{folder}/a.bin", [], {})] },
        "X-Sendfile")
      serving(app, x_sendfile: folder, lint: false) do
        response = peer.get("/", "Range: bytes=5-9\n")

        assert_equal [206, CONTENT[5..9]], [response.status, response.body]
        assert_nil response["x-sendfile"]
      end
    end
  end
end
