# frozen_string_literal: true

require "openssl"
require "time"
require "tmpdir"
require_relative "../../support/certificates"
require_relative "../../support/http/http2_peer"

# Files of the public folder. core/files has tests of paths, types, ranges, and of what is kept open.
class HTTPPublicFileTest < PeltonTest
  include Http2Peers

  LARGE = Random.new(3).bytes(3_000_000)
  APP = ->(env) do
    [200, {"content-type" => "text/plain"}, ["the application: #{env["REQUEST_METHOD"]} #{env["PATH_INFO"]}"]]
  end

  def with_files(files = {}, app: APP, **options)
    Dir.mktmpdir do |parent|
      @folder = "#{parent}/public"
      Dir.mkdir(@folder)
      File.write("#{parent}/secret", "secret")
      files.each { |name, content| write(name, content) }
      serving(app, public: @folder, **options) { yield }
    end
  end

  # Writes a file that seems to have been changed a minute ago: its tag is strong.
  def write(name, content, age: 60)
    path = "#{@folder}/#{name}"
    FileUtils.mkdir_p(File.dirname(path))
    File.binwrite(path, content)
    File.utime(Time.now - age, Time.now - age, path)
  end

  def test_a_file_is_sent_in_the_applications_place
    with_files({"app.css" => "a {}"}) do
      response = peer.get("/app.css?v=1")

      assert_equal "a {}", response.body
      assert_equal 200, response.status
      assert_equal "text/css; charset=utf-8", response["content-type"]
      assert_equal "4", response["content-length"]
      assert_equal "no-cache", response["cache-control"]
      assert_equal "bytes", response["accept-ranges"]
      assert_equal File.mtime("#{@folder}/app.css").httpdate, response["last-modified"]
      assert_match(/\A"[\h-]+"\z/, response["etag"])
      assert_match(/GMT\z/, response["date"])
      assert_nil response["vary"]
    end
  end

  def test_what_is_no_file_is_the_applications
    with_files({"a" => "file"}) do
      connection = peer
      %w[/b / /a/b /a%00 /a%2e].each do |path|
        assert_match(/\Athe application/, connection.get(path).body, path)
      end
    end
  end

  def test_other_methods_are_the_applications
    with_files({"a" => "file"}) do
      connection = peer
      %w[POST PUT DELETE OPTIONS].each do |method|
        assert_equal "the application: #{method} /a", connection.get("/a", method: method).body, method
      end
      connection.say("GET /a HTTP/1.1\nHost: localhost\nContent-Length: 2\n\n", "ab")

      assert_equal "the application: GET /a", connection.response.body
    end
  end

  def test_it_is_off_by_default
    serving(APP) { assert_equal "the application: GET /README.md", peer.get("/README.md").body }
  end

  # As Action Dispatch's.
  def test_names_without_an_ending
    with_files({
      "index.html" => "index",
      "about.html" => "about",
      "docs/index.html" => "docs",
      "a/b" => "b",
      "x" => "x"
    }) do
      connection = peer
      {"/" => "index", "/about" => "about", "/about/" => "about", "/docs" => "docs", "/docs/" => "docs", "/x" => "x",
       "/a" => "the application: GET /a", "/a/b" => "b"}.each do |path, content|
        assert_equal content, connection.get(path).body, path
      end
      assert_equal "text/html; charset=utf-8", connection.get("/about")["content-type"]
    end
  end

  def test_head_has_no_body
    with_files({"a.txt" => "text", "large" => LARGE}) do
      connection = peer
      %w[/a.txt /large].zip(%w[4 3000000]) do |path, length|
        response = connection.get(path, method: "HEAD")

        assert_equal [200, length], [response.status, response["content-length"]], path
      end
      assert_equal "text", connection.get("/a.txt").body
    end
  end

  def test_a_large_file
    with_files({"large" => LARGE}) do
      connection = peer
      2.times { assert_equal LARGE, connection.get("/large").body }
    end
  end

  def test_an_empty_file
    with_files({"empty.txt" => ""}) do
      assert_equal [200, "0", ""],
        peer.get("/empty.txt").then { |response| [response.status, response["content-length"], response.body] }
    end
  end

  # ---- conditions and ranges

  def test_a_client_that_has_the_file_is_told_so
    with_files({"a.css" => "a"}) do
      connection = peer
      first = connection.get("/a.css")
      [
        "If-None-Match: #{first["etag"]}",
        "If-None-Match: \"x\", W/#{first["etag"]}",
        "If-Modified-Since: #{first["last-modified"]}"
      ].each do |header|
        response = connection.get("/a.css", "#{header}\n")

        assert_equal 304, response.status, header
        assert_equal first["etag"], response["etag"], header
        assert_empty response.headers.keys & %w[content-length content-type], header
      end
      assert_equal 200, connection.get("/a.css", "If-None-Match: \"x\"\n").status
    end
  end

  def test_a_range
    with_files({"large" => LARGE, "small" => "0123456789"}) do
      connection = peer
      {
        "bytes=1000000-2999999" => 1_000_000..2_999_999,
        "bytes=-5" => -5..-1,
        "bytes=2999999-" => 2_999_999..2_999_999
      }.each do |range, part|
        response = connection.get("/large", "Range: #{range}\n")

        assert_equal 206, response.status, range
        assert_equal LARGE[part], response.body, range
      end
      assert_equal ["bytes 2-3/10", "23"],
        connection.get("/small", "Range: bytes=2-3\n").then { |response| [response["content-range"], response.body] }
    end
  end

  def test_ranges_that_are_not_to_be_had
    with_files({"small" => "0123456789"}) do
      connection = peer
      beyond = connection.get("/small", "Range: bytes=10-\n")

      assert_equal [416, "bytes */10", ""], [beyond.status, beyond["content-range"], beyond.body]
      assert_equal "0123456789", connection.get("/small", "Range: bytes=0-1,3-4\n").body
      assert_equal "0123456789", connection.get("/small", "Range: bytes=0-1\nIf-Range: \"old\"\n").body
    end
  end

  # ---- what clients keep

  def test_a_name_with_a_digest_is_kept_for_ever
    with_files({"app-0123abcd.js" => "a", "app.js" => "b"}, public_max_age: 60) do
      assert_equal "public, max-age=31536000, immutable", peer.get("/app-0123abcd.js")["cache-control"]
      assert_equal "public, max-age=60", peer.get("/app.js")["cache-control"]
    end
  end

  def test_a_compressed_form_is_sent_to_whom_understands_it
    with_files({"app.js" => "plain", "app.js.br" => "brotli", "app.js.zst" => "zstandard", "app.js.gz" => "gzip"}) do
      connection = peer
      [["gzip, br", "brotli", "br"], ["zstd, gzip", "zstandard", "zstd"],
        ["gzip", "gzip", "gzip"], ["br;q=0", "plain", ""],
        ["x", "plain", ""]].each do |codings, content, coding|
        response = connection.get("/app.js", "Accept-Encoding: #{codings}\n")

        assert_equal content, response.body, codings
        assert_equal "accept-encoding", response["vary"], codings
        assert_equal "text/javascript; charset=utf-8", response["content-type"], codings
        assert_equal coding, response["content-encoding"].to_s, codings
      end
      tags = %w[gzip br zstd x].map { |coding| connection.get("/app.js", "Accept-Encoding: #{coding}\n")["etag"] }
      assert_equal tags, tags.uniq
    end
  end

  # ---- bad input

  def test_nothing_outside_of_the_folder_is_sent
    with_files({"a/b" => "file"}) do
      File.symlink("../secret", "#{@folder}/out")
      File.symlink("..", "#{@folder}/above")
      File.symlink(File.expand_path("../secret", @folder), "#{@folder}/absolute")
      connection = peer
      %w[/../secret /a/../../secret /%2e%2e/secret /..%2fsecret /%2e%2e%2fsecret /..%5csecret /..%252fsecret
        /.%2e/secret
        /%c0%ae%c0%ae/secret /out /above/secret /absolute /a/..%00/secret].each do |path|
        assert_match(/\Athe application/, connection.get(path).body, path)
      end
    end
  end

  def test_hidden_files_pipes_and_folders_are_not_sent
    with_files({
      ".env" => "secret",
      ".git/config" => "secret",
      ".well-known/security.txt" => "contact",
      "a/b" => "b"
    }) do
      File.mkfifo("#{@folder}/pipe")
      File.symlink("/dev/zero", "#{@folder}/zero")
      connection = peer
      %w[/.env /.git/config /pipe /zero /a /%2eenv].each do |path|
        assert_match(/\Athe application/, connection.get(path).body, path)
      end
      assert_equal "contact", connection.get("/.well-known/security.txt").body
    end
  end

  def test_names_that_are_too_long
    with_files do
      connection = peer
      ["a" * 300, "a/" * 600, "a" * 4000].each do |name|
        assert_match(/\Athe application/, connection.get("/#{name}").body, name.size)
      end
    end
  end

  def test_a_file_that_shrinks_while_it_is_sent
    with_files({"large" => LARGE * 10}) do
      connection = peer
      connection.say("GET /large HTTP/1.1\nHost: localhost\n\n")
      connection.io.readpartial(10_000)
      File.truncate("#{@folder}/large", 10)
      rest = connection.io.read

      assert_operator rest.bytesize, :<, 30_000_000
      assert_equal 1, reported.size
      assert_match(/large became shorter while it was sent/, reported.first.message)
    end
  end

  def test_a_file_that_disappears_while_it_is_sent_is_sent_to_its_end
    with_files({"large" => LARGE * 5}) do
      connection = peer
      connection.say("GET /large HTTP/1.1\nHost: localhost\n\n")
      connection.io.readpartial(1)
      File.delete("#{@folder}/large")
      body = connection.io.read(LARGE.bytesize * 5)

      assert_equal LARGE.bytesize * 5, body.bytesize
    end
  end

  def test_a_client_that_leaves_in_the_middle
    with_files({"large" => LARGE * 10}) do
      connection = peer
      connection.say("GET /large HTTP/1.1\nHost: localhost\n\n")
      connection.io.readpartial(1)
      connection.reset
      eventually { @server.stats[:connections].zero? }

      assert_equal "the application: GET /b", peer.get("/b").body
    end
  end

  def test_a_client_that_does_not_read_is_given_up
    with_files({"large" => LARGE * 10}, write_timeout: 0.2) do
      peer.say("GET /large HTTP/1.1\nHost: localhost\n\n")
      eventually { @server.stats[:requests] == 1 }
      eventually { @server.stats[:connections].zero? }

      assert_equal 0, @server.stats[:connections]
    end
  end

  # ---- who else sees it

  # Those that are kept open for the next request give theirs up.
  def test_a_file_is_sent_where_no_descriptor_is_left
    skip "valgrind sets no limits" if VALGRIND
    skip "poll takes no more descriptors than the limit" if ENV["PELTON_BACKEND"] == "poll"
    limit = Process.getrlimit(:NOFILE)
    with_files({"large" => LARGE, "b.txt" => "b"}) do
      connection = peer

      assert_equal 200, connection.get("/large", method: "HEAD").status
      Process.setrlimit(:NOFILE, File.open(@folder) { |folder| folder.fileno }, limit.last)
      assert_equal "b", connection.get("/b.txt").body
    ensure
      Process.setrlimit(:NOFILE, *limit)
    end
  end

  def test_a_file_is_in_the_log_and_the_statistics
    log = StringIO.new
    with_files({"a.txt" => "text"}, log: Pelton::HTTP::CommonLog.new(log)) do
      peer.get("/a.txt")
      eventually { log.string.include?("\n") }

      assert_match(%r{"GET /a.txt HTTP/1.1" 200 4$}, log.string)
      assert_equal 1, @server.stats[:durations]["GET 200 public"]["+Inf"]
      assert_equal 1, @server.stats[:responses]["2xx"]
    end
  end

  def test_a_file_takes_no_slot
    turn = Pelton::Semaphore.new(1)
    app = lambda do |_env|
      turn.acquire { [200, {}, ["done"]] }
    end
    with_files({"large" => LARGE}, app: app, concurrency: 1) do
      turn.acquire
      connection = peer
      connection.say("GET /slow HTTP/1.1\nHost: localhost\n\n")
      eventually { @server.stats[:running] == 1 }

      assert_equal LARGE, peer.get("/large").body
      turn.release
      assert_equal "done", connection.response.body
    end
  end

  def test_a_folder_that_is_missing
    error = assert_raises(ArgumentError) { Pelton::HTTP::Server.new(APP, public: "/nowhere/at/all") }

    assert_match(%r{\Apublic: /nowhere/at/all: No such file}, error.message)
  end

  # ---- other protocols

  def test_http_2
    with_files({"small" => "text", "large" => LARGE}) do
      @server._urgent_paths = ["/up"].freeze # no file is asked whether it is one: it has no env
      connection = http2(settings: {4 => 2**31 - 1}).open_window(0, 2**30)

      assert_equal "text", connection.get("/small").body
      assert_equal LARGE, connection.get("/large").body
      assert_equal LARGE[5..9], connection.get("/large", fields: {"range" => "bytes=5-9"}).body
      assert_equal "the application: GET /other", connection.get("/other").body
      assert_equal [200, ""],
        connection.get("/large", method: "HEAD").then { |response| [response.status, response.body] }
    end
  end

  def test_tls
    with_files({"small" => "text", "large" => LARGE}) do
      connection = secure_peer(@server.listen("ssl://127.0.0.1:0", tls: Certificates.server.to_h).port)

      assert_equal "text", connection.get("/small").body
      assert_equal LARGE, connection.get("/large").body
    end
  end

  def test_pipelined_requests_keep_their_order
    with_files({"a" => "first", "large" => LARGE}) do
      connection = peer
      %w[/a /large /b /a].each { |path| connection.say("GET #{path} HTTP/1.1\nHost: localhost\n\n") }

      assert_equal ["first", LARGE, "the application: GET /b", "first"], Array.new(4) { connection.response.body }
    end
  end

  # Each response is one version as a whole: files are replaced by renaming.
  def test_clients_while_files_change
    versions = Array.new(5) { |index| index.to_s * (10_000 * (index + 1)) }
    with_files({"f" => versions[0]}) do
      tasks = Array.new(100) { Pelton.spawn { connection = peer and Array.new(5) { connection.get("/f").body } } }
      versions.each do |version|
        write("new", version)
        File.rename("#{@folder}/new", "#{@folder}/f")
        sleep(0.01)
      end

      assert_empty tasks.flat_map(&:await) - versions
    end
  end
end
