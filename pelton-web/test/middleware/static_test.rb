# frozen_string_literal: true

require "test_helper"
require "pelton/web"
require "rack/lint"
require "rack/mock"
require "zlib"
require_relative "../support/static_files"

class WebStaticTest < PeltonTest
  include StaticFiles

  FILES = {"app.css" => "body {}\n" * 100, "app.css.gz" => Zlib.gzip("body {}\n" * 100), "app.css.br" => "brotli",
           "images/a b.png" => "\x89PNG\0".b * 50,
           "ø.txt" => "ø", ".env" => "SECRET", ".git/config" => "SECRET", "images/.hidden" => "SECRET",
           "no_ending" => "x", "alone.gz" => "gz"}.freeze

  def test_a_file
    serving do
      response = get("/app.css")

      assert_equal 200, response.status
      assert_equal FILES["app.css"], response.body
      assert_equal "text/css; charset=utf-8", response["content-type"]
      assert_equal "800", response["content-length"]
      assert_equal "public, no-cache", response["cache-control"]
      assert_equal "nosniff", response["x-content-type-options"]
      assert_equal "bytes", response["accept-ranges"]
      assert_match(/\A"[\w-]+"\z/, response["etag"])
      assert_equal "application/octet-stream", get("/no_ending")["content-type"]
      assert_equal FILES["images/a b.png"], get("/images/a%20b.png").body.b
      assert_equal "ø".b, get("/%C3%B8.txt").body.b
      assert_equal "gz", get("/alone.gz").body
    end
  end

  def test_anything_else_goes_to_the_application
    serving do
      ["/", "/missing", "/images", "/images/", "/app.css/"].each do |path|
        assert_equal "application", get(path).body, path
      end
      assert_equal "application", @request.request("POST", "/app.css", lint: true).body
      assert_equal "application", @request.request("OPTIONS", "/app.css", lint: true).body
    end
    alone = Rack::MockRequest.new(Rack::Lint.new(Pelton::Web::Static.new(root: __dir__)))
    assert_equal 404, alone.get("/missing").status
  end

  def test_head
    serving do
      response = @request.head("/app.css", lint: true)

      assert_equal 200, response.status
      assert_equal "", response.body
      assert_equal "800", response["content-length"]
    end
  end

  def test_not_modified
    serving do
      response = get("/app.css")
      by_tag = get("/app.css", "HTTP_IF_NONE_MATCH" => "\"x\", W/#{response["etag"]}")

      assert_equal 304, by_tag.status
      assert_equal "", by_tag.body
      assert_equal response["etag"], by_tag["etag"]
      assert_nil by_tag["content-type"]
      assert_equal 304, get("/app.css", "HTTP_IF_MODIFIED_SINCE" => response["last-modified"]).status
      assert_equal 200,
        get("/app.css", "HTTP_IF_NONE_MATCH" => "\"x\"", "HTTP_IF_MODIFIED_SINCE" => response["last-modified"]).status
    end
  end

  # ---- the name with the digest

  def test_the_name_with_the_digest
    serving do
      path = @static.asset_path("app.css")

      assert_match(%r{\A/app-\h{16}\.css\z}, path)
      assert_equal FILES["app.css"], get(path).body
      assert_equal "public, max-age=31536000, immutable", get(path)["cache-control"]
      assert_equal path, @static.asset_path("/app.css")
      assert_match(%r{\A/images/a%20b-\h{16}\.png\z}, @static.asset_path("images/a b.png"))
      assert_equal 200, get(@static.asset_path("images/a b.png")).status
      assert_equal 200, get(@static.asset_path("ø.txt")).status
      assert_match(%r{\A/no_ending-\h{16}\z}, @static.asset_path("no_ending"))
      [".env", "missing.css", "../x"].each { |name| assert_raises(ArgumentError) { @static.asset_path(name) } }
    end
  end

  # Clients keep what is under this name for ever: so no other bytes may be there.
  def test_a_changed_file_has_another_name
    serving do
      before = @static.asset_path("app.css")
      get(before)
      File.binwrite(File.join(@folder, "app.css"), "changed")

      assert_equal "application", get(before).body
      assert_equal "changed", get("/app.css").body
      after = @static.asset_path("app.css")
      refute_equal before, after
      assert_equal "changed", get(after).body
    end
  end

  def test_a_file_that_is_removed
    serving do
      get("/no_ending")
      File.delete(File.join(@folder, "no_ending"))

      2.times { assert_equal "application", get("/no_ending").body }
    end
  end

  def test_a_file_that_is_added
    serving(reload: true) do
      write_file(@folder, "new.txt", "new")

      assert_equal "new", get("/new.txt").body
      write_file(@folder, "newer.txt", "newer")
      assert_equal "newer", get(@static.asset_path("newer.txt")).body
    end
    serving do
      write_file(@folder, "new.txt", "new")

      assert_equal "application", get("/new.txt").body
    end
  end

  def test_paths_may_begin_with_a_folder_of_their_own
    serving(at: "/assets/") do
      assert_equal FILES["app.css"], get("/assets/app.css").body
      assert_equal "application", get("/app.css").body
      assert_equal FILES["app.css"], get(@static.asset_path("app.css")).body
    end
  end

  # ---- compressed files

  def test_the_best_coding_that_the_client_takes
    serving do
      {"gzip, br" => "br", "gzip" => "gzip", "br;q=0, gzip" => "gzip", "deflate" => nil,
       nil => nil}.each do |header, coding|
        response = get("/app.css", {"HTTP_ACCEPT_ENCODING" => header}.compact)

        assert_equal [coding, "accept-encoding", "text/css; charset=utf-8"],
          [response["content-encoding"], response["vary"], response["content-type"]].first(3)
        assert_equal FILES["app.css#{{"br" => ".br", "gzip" => ".gz"}[coding]}"].b, response.body.b
      end
      tags = ["br", "gzip", ""].map { |header| get("/app.css", "HTTP_ACCEPT_ENCODING" => header)["etag"] }
      assert_equal 3, tags.uniq.size, "a strong tag stands for bytes"
      assert_nil get("/no_ending", "HTTP_ACCEPT_ENCODING" => "gzip")["vary"]
      assert_equal "application", get("/app.css.gz").body
    end
  end

  # ---- ranges

  def test_a_range
    serving do
      {"bytes=0-3" => ["body", "bytes 0-3/800"], "bytes=796-" => [" {}\n", "bytes 796-799/800"],
       "bytes=-2" => ["}\n", "bytes 798-799/800"],
       "bytes=798-5000" => ["}\n", "bytes 798-799/800"]}.each do |header, (body, range)|
        response = get("/app.css", "HTTP_RANGE" => header, "HTTP_ACCEPT_ENCODING" => "gzip")

        assert_equal 206, response.status
        assert_equal body, response.body
        assert_equal range, response["content-range"]
        assert_equal body.bytesize.to_s, response["content-length"]
        assert_nil response["content-encoding"]
      end
      response = get("/app.css", "HTTP_RANGE" => "bytes=800-")
      assert_equal 416, response.status
      assert_equal "bytes */800", response["content-range"]
      assert_equal "", response.body
    end
  end

  def test_ranges_that_are_not_answered
    serving do
      tag = get("/app.css")["etag"]
      ["bytes=0-1,3-4", "lines=1-2", "bytes=b-a", "bytes=", "bytes=5-2"].each do |header|
        assert_equal 200, get("/app.css", "HTTP_RANGE" => header).status, header
      end
      assert_equal 206, get("/app.css", "HTTP_RANGE" => "bytes=0-1", "HTTP_IF_RANGE" => tag).status
      assert_equal 200, get("/app.css", "HTTP_RANGE" => "bytes=0-1", "HTTP_IF_RANGE" => "\"old\"").status
      assert_equal 200, @request.head("/app.css", "HTTP_RANGE" => "bytes=0-1").status
    end
  end

  # ---- bad input

  def test_no_path_leads_out_of_the_folder
    with_files("outside.txt" => "SECRET", "public/inside.txt" => "inside") do |folder|
      request = Rack::MockRequest.new(Pelton::Web::Static.new(root: File.join(folder, "public")))
      dots = ["..", "%2e%2e", "%2E.", ".%2e", "%252e%252e", "..%00", "%c0%ae%c0%ae", "..;", "\\..", "%5c..", "..%5c",
        "...", ". ."]
      slashes = ["/", "//", "%2f", "%2F", "\\", "%5c", "%c0%af", "%252f"]
      dots.product(slashes) do |dot, slash|
        ["/#{dot}#{slash}outside.txt", "/inside.txt#{slash}#{dot}#{slash}#{dot}#{slash}outside.txt",
          "/x#{slash}#{dot}#{slash}#{dot}#{slash}outside.txt"].each do |path|
          env = Rack::MockRequest.env_for("/").merge("PATH_INFO" => path)
          response = Rack::MockResponse.new(*request.instance_variable_get(:@app).call(env))

          assert_equal 404, response.status, path
        end
      end
    end
  end

  def test_hidden_files_and_odd_paths
    serving do
      ["/.env", "/%2eenv", "/.git/config", "/images/.hidden", "/./app.css", "//app.css", "/app.css%00",
        "/app.css%00.png", "/APP.CSS", "/app.css.", "/app.css%20", "/app.css;x",
        "/images%2f..%2fapp.css", "/%", "/%2", "/%zz", "/%ff", "", "/#{"a%20" * 5000}",
        "/app-0000000000000000.css"].each do |path|
        env = Rack::MockRequest.env_for("/").merge("PATH_INFO" => path)

        assert_equal "application", Rack::MockResponse.new(*@static.call(env)).body, path
      end
    end
  end

  def test_links
    with_files("outside.txt" => "SECRET", "folder/secret.txt" => "SECRET",
      "public/inside.txt" => "inside", "public/.hidden" => "SECRET") do |folder|
      {"out.txt" => "../outside.txt", "in.txt" => "inside.txt", "folder" => "../folder", "loop" => ".",
       "self.txt" => "self.txt", "gone.txt" => "nowhere", "dot.txt" => ".hidden",
       "inside.txt.gz" => "../outside.txt"}.each do |name, target|
         File.symlink(target, File.join(folder, "public", name))
       end
      request = Rack::MockRequest.new(Rack::Lint.new(Pelton::Web::Static.new(root: File.join(folder, "public"))))

      %w[/out.txt /folder/secret.txt /loop/inside.txt /self.txt /gone.txt /dot.txt /inside.txt].each do |path|
        assert_equal 404, request.get(path).status, path
      end
      assert_equal "inside", request.get("/in.txt").body
    end
  end

  # A file that became a link out of the folder after the start.
  def test_a_file_that_is_replaced_by_a_link
    with_files("outside.txt" => "SECRET", "public/inside.txt" => "inside") do |folder|
      request = Rack::MockRequest.new(Pelton::Web::Static.new(root: File.join(folder, "public")))
      assert_equal "inside", request.get("/inside.txt").body
      path = File.join(folder, "public/inside.txt")
      File.delete(path)
      File.symlink("../outside.txt", path)

      2.times { assert_equal 404, request.get("/inside.txt").status }
    end
  end

  def test_what_is_no_file
    serving do
      File.mkfifo(File.join(@folder, "pipe"))
      File.binwrite(File.join(@folder, "back\\slash"), "x")
      static = Pelton::Web::Static.new(root: @folder)

      ["/pipe", "/back\\slash", "/back%5cslash"].each do |path|
        assert_equal 404, static.call(Rack::MockRequest.env_for("/").merge("PATH_INFO" => path)).first
      end
    end
  end

  def test_a_folder_that_is_missing
    assert_match(/no folder/,
      assert_raises(Pelton::Web::ConfigurationError) { Pelton::Web::Static.new(root: "/nowhere") }.message)
  end

  # ---- an application's files

  def test_the_files_of_an_application
    page = '<%= asset_path("app.css") %>'
    with_files("public/app.css" => "css", "app/views/page.html.erb" => page) do |folder|
      application = Class.new(Pelton::Web::Application) do
        settings.root = folder
        routes { get("/") { render "page", layout: false } }
      end
      browser = Rack::MockRequest.new(Rack::Lint.new(application))

      assert_equal "css", browser.get("/app.css").body
      assert_match(/app-\h+\.css/, path = browser.get("/").body)
      assert_equal "css", browser.get(path).body
    end
  end

  # Through Pelton's server: a small file from memory and from the cache of public responses, a large one by sendfile.
  def test_files_through_the_server
    large = Random.new(3).bytes(300_000)
    with_files("small.txt" => "small", "large.bin" => large) do |folder|
      static = Pelton::Web::Static.new(root: folder)
      Pelton.run do
        hits = [Rack::Lint.new(static), static].map do |app|
          server = Pelton::HTTP::Server.new(app, cache: 4 << 20)
          url = "http://127.0.0.1:#{server.listen("tcp://127.0.0.1:0").port}"
          3.times { assert_equal "small", Pelton::HTTP.get("#{url}#{static.asset_path("small.txt")}").body.to_s }
          2.times { assert_equal large, Pelton::HTTP.get("#{url}#{static.asset_path("large.bin")}").body.to_s.b }
          assert_equal large[100..200],
            Pelton::HTTP.get("#{url}/large.bin", headers: {"range" => "bytes=100-200"}).body.to_s.b
          server.stats[:cache_hits]
        ensure
          server&.stop(timeout: 5)
        end

        assert_equal [0, 1], hits # Rack::Lint's body is no Array
      end
    end
  end

  def test_an_application_without_files
    with_files({}) do |folder|
      settings = Pelton::Web::Settings.new
      settings.root = folder
      app = ->(_) {}

      assert_same app, Pelton::Web::Static.wrap(app, settings)
    end
  end

  private

  def serving(**options)
    with_files(FILES) do |folder|
      @folder = folder
      application = ->(_) { [200, {"content-type" => "text/plain"}, ["application"]] }
      @static = Pelton::Web::Static.new(application, root: folder, **options)
      @request = Rack::MockRequest.new(Rack::Lint.new(@static))
      yield
    end
  end

  def get(path, env = {}) = @request.get(path, env)
end
