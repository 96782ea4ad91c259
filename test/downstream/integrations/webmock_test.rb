# frozen_string_literal: true

require "tmpdir"
require "zlib"
require_relative "../../test_helper"
require_relative "../../support/http/scripts"
require_relative "../../support/webmock_program"

class IntegrationsWebMockTest < PeltonTest
  include HTTPScripts
  include WebMockProgram

  self.deadline = 60

  # ---- stubs

  def test_each_way_to_make_a_request_gets_the_stub_s_response
    lines = webmock_output(<<~RUBY)
      require "pelton/faraday"
      stub_request(:get, "http://example.com/a").to_return(status: [201, "Made"], body: "grün",
        headers: {"Content-Type" => "text/plain; charset=utf-8", "X-Some" => %w[1 2], "X-Other" => "3"})
      response = Pelton::HTTP.get("http://example.com/a")
      show = ->(name, value) { puts "\#{name}: \#{value.inspect}" }
      %i[status reason body headers].each { |name| show.call(name, response.public_send(name)) }
      client = Pelton::HTTP::Client.new("http://example.com/")
      Pelton.run do
        show.call("get", client.get("a").body)
        show.call("request", client.request("GET", "a").body)
        show.call("later", client.later.get("a").await.body)
        show.call("await", client.get("a") { |later| show.call("block", later.status) }.await.body)
        show.call("stream", client.get("a", stream: true).each.to_a)
        faraday = Faraday.new("http://example.com") { |one| one.adapter :pelton }.get("/a")
        show.call("Faraday's status", [faraday.status, faraday.reason_phrase])
        show.call("Faraday's body", faraday.body)
        show.call("Faraday's header", faraday.headers["X-Some"])
        show.call("connections", client.stats)
      end
      assert_requested(:get, "http://example.com/a", times: 7)
    RUBY

    assert_equal ["status: 201", 'reason: "Made"', 'body: "grün"',
      'headers: {"content-type"=>"text/plain; charset=utf-8", "x-some"=>["1", "2"], "x-other"=>"3"}',
      'get: "grün"', 'request: "grün"', 'later: "grün"', "block: 201", 'await: "grün"',
      'stream: ["gr\xC3\xBCn"]', "Faraday's status: [201, \"Made\"]", "Faraday's body: \"grün\"",
      "Faraday's header: \"1, 2\"", "connections: {:open=>0, :idle=>0}"], lines
  end

  def test_what_a_stub_may_ask_of_a_request
    lines = webmock_output(<<~'RUBY')
      require "pathname"
      def check(url = "http://example.com/", that: ->(_) { true }, **wanted)
        stub_request(:any, url).with(**wanted, &that).to_return(body: "stubbed")
        p yield.body
      rescue WebMock::NetConnectNotAllowedError => error
        puts error.message.lines.first
      ensure
        WebMock.reset!
      end
      HTTP = Pelton::HTTP
      home = "http://example.com/"
      check(query: {b: "c", "d" => %w[e f]}) { HTTP.get("#{home}?b=c", query: {"d[]" => %w[e f]}) }
      check("http://example.com/a b") { HTTP.get("#{home}a b#part") }
      check(headers: {"X-Some" => "1", "User-Agent" => /Pelton/}) { HTTP.get(home, headers: {"x-some" => 1}) }
      check(headers: {"X-Some" => %w[1 2]}) { HTTP.get(home, headers: {"x-some" => %w[2 1], "accept" => nil}) }
      check(basic_auth: %w[Ann secret]) { HTTP.get(home, basic_auth: %w[Ann secret]) }
      check(basic_auth: %w[Ann secret]) { HTTP.get("http://Ann:secret@example.com/") }
      check(body: {"a" => {"b" => 1}}) { HTTP.post(home, json: {a: {b: 1}}) }
      check(body: {"a" => "b"}) { HTTP.put(home, form: {a: "b"}) }
      check(body: "grün") { HTTP.post(home, body: "grün") }
      check(body: "grün") { HTTP.post(home, body: StringIO.new("grün")) }
      check(body: "grün") { HTTP.post(home, body: %w[gr ün].each) }
      File.write("file", "\xFF".b * 100_000)
      check(body: "\xFF".b * 100_000) { HTTP.patch(home, body: Pathname("file")) }
      check(that: ->(one) { one.body.include?("name=\"a\"\r\n\r\nb") }) { HTTP.post(home, multipart: {a: "b"}) }
      check(body: nil) { HTTP.request(:purge, home) }
      check { HTTP.post(home.sub("com", "org"), body: "b") }
    RUBY

    assert_equal ['"stubbed"'] * 14, lines.first(14)
    assert_match(%r{\AReal HTTP connections are disabled. Unregistered request: POST http://example.org/ with body 'b'},
      lines[14])
  end

  def test_errors_of_a_stub
    lines = webmock_output(<<~RUBY)
      require "pelton/faraday"
      url = "http://example.com/a?secret=1"
      stub_request(:get, url).to_timeout.then.to_raise(Errno::ECONNREFUSED).then.to_raise("on purpose").then.to_timeout
      3.times { error_of { Pelton::HTTP.get(url) }.then { |error| puts "\#{error.class} \#{error.message}" } }
      p error_of { Faraday.new { |one| one.adapter :pelton }.get(url) }.class
    RUBY

    assert_equal ["Pelton::TimeoutError GET http://example.com/a: the time is over, as a stub of WebMock says",
      "Errno::ECONNREFUSED Connection refused - Exception from WebMock", "StandardError on purpose",
      "Faraday::TimeoutError"], lines
  end

  def test_sequences_and_responses_that_the_request_decides
    lines = webmock_output(<<~RUBY)
      url = "http://example.com/"
      stub_request(:get, url).to_return({status: 503, headers: {"Retry-After" => "0"}}, {body: "at last"})
      p Pelton::HTTP.get(url, retries: 1).body
      stub_request(:post, url).to_return { |request| {status: 202, body: request.body.upcase} }
      p Pelton::HTTP.post(url, body: "text").then { |response| [response.status, response.body] }
      stub_request(:put, url).to_return(body: ->(request) { request.uri.host })
      p Pelton::HTTP.put(url).body
      Pelton.run do
        stub_request(:get, /slow/).to_return { sleep(0.001).then { {body: "slow"} } }
        p Pelton.map(1..3) { |number| Pelton::HTTP.get("http://example.com/slow/\#{number}").body }
      end
    RUBY

    assert_equal ['"at last"', '[202, "TEXT"]', '"example.com"', '["slow", "slow", "slow"]'], lines
  end

  def test_redirects_and_cookies
    assert_equal ['["there", "http://example.com/b?c"]', "true"], webmock_output(<<~RUBY)
      stub_request(:get, "http://example.com/a").to_return(status: 302, headers: {"Location" => "/b?c#d",
        "Set-Cookie" => "name=value"})
      stub_request(:get, "http://example.com/b?c").with(headers: {"Cookie" => "name=value"}).to_return(body: "there")
      response = Pelton::HTTP::Client.new(cookies: true).get("http://example.com/a")
      p [response.body, response.url.to_s[/[^#]+/]]
      p assert_requested(:get, "http://example.com/a").nil?
    RUBY
  end

  def test_bodies_as_they_would_be_sent
    assert_equal ['["", "", ""]', '"inflated"', "true", '["a", "bc"]', "Pelton::LimitError", "Pelton::Error"],
      webmock_output(<<~RUBY)
        require "zlib"
        stub_request(:any, "http://example.com/").to_return(body: "a body")
        stub_request(:get, "http://example.com/204").to_return(status: 204, body: "a body")
        p [Pelton::HTTP.head("http://example.com/"), Pelton::HTTP.get("http://example.com/204"),
          Pelton::HTTP.get("http://example.com/204", stream: true)].map(&:body)
        gzip = Zlib.gzip("inflated")
        stub_request(:get, "http://example.com/gz").to_return(body: gzip, headers: {"Content-Encoding" => "gzip"})
        p Pelton::HTTP.get("http://example.com/gz").body
        p Pelton::HTTP.get("http://example.com/gz", decode: false).body == gzip
        stub_request(:get, "http://example.com/array").to_return(body: %w[a bc])
        p Pelton::HTTP.get("http://example.com/array", stream: true).each.to_a
        p error_of { Pelton::HTTP.get("http://example.com/array", max_body: 2) }.class
        stub_request(:get, "http://example.com/101").to_return(status: 101)
        p error_of { Pelton::HTTP.get("http://example.com/101").upgrade }.class
      RUBY
  end

  def test_streams
    lines = webmock_output(<<~RUBY)
      require "pelton/faraday"
      url = "http://example.com/"
      long = Array.new(20_000) { |number| number.to_s }.join(" ")
      stub_request(:get, url).to_return(body: long)
      pieces = Pelton::HTTP.get(url, stream: true).each.to_a
      p pieces.size > 1, pieces.join == long
      stub_request(:get, url).to_return(body: "x" * 32_768)
      p Pelton::HTTP.get(url, stream: true).each.map(&:size)
      stub_request(:get, url).to_return(body: long)
      read = +""
      Faraday.new { |one| one.adapter :pelton }.get(url) { |one| one.options.on_data = ->(piece, *) { read << piece } }
      p read == long
      given_up = Pelton::HTTP.get(url, stream: true)
      given_up.each { break }
      p error_of { given_up.each { nil } }.message

      events = {"Content-Type" => "text/event-stream"}
      stub_request(:get, url).to_return(headers: events, body: "data: a\\n\\nid: 1\\ndata: b\\n\\n")
      Pelton::HTTP.get(url, stream: true).each_event { |event| p event.data }
      stub_request(:get, url).to_return({headers: events, body: ["retry: 1\\nid: 7\\nda", "ta: c\\n\\n"]})
      stub_request(:get, url).with(headers: {"Last-Event-Id" => "7"}).to_return(status: 204)
      p Pelton::HTTP.client.each_event(url) { |event| p event.data }
    RUBY

    assert_equal ["true", "true", "[16384, 16384]", "true", '"the body was read already"', '"a"', '"b"', '"c"', "nil"],
      lines
  end

  # ---- requests that are not allowed, and real ones

  def test_a_request_that_is_not_allowed_is_refused_in_each_style
    server = script { |_, _| ok("real") }
    lines = webmock_output(<<~RUBY, server.url)
      require "pelton/faraday"
      WebMock.disable_net_connect!
      url = ARGV.first
      report = ->(error) { puts "\#{error.class}: \#{error.message[/(GET|HEAD) \\S+/]}" }
      report.call(error_of { Pelton::HTTP.get(url) })
      report.call(error_of { Pelton::HTTP.head(url, stream: true) })
      report.call(error_of { Pelton.run { Pelton::HTTP.get(url, retries: 3) } })
      report.call(error_of { Pelton.run { Pelton::HTTP.get(url) { p :never } } })
      report.call(error_of { Pelton.run { Pelton::HTTP.later.get(url).await } })
      report.call(error_of { Faraday.new { |one| one.adapter :pelton }.get(url) })
    RUBY

    refused = %w[GET HEAD GET GET GET GET].map { |verb| "WebMock::NetConnectNotAllowedError: #{verb} #{server.url}/" }

    assert_equal refused, lines
    assert_empty server.seen
  end

  def test_real_requests_that_are_allowed_are_counted_too
    server = script { |request, _| ok("real #{request.path}") }
    lines = webmock_output(<<~RUBY, server.url)
      url = ARGV.first
      WebMock.disable_net_connect!(allow: ->(uri) { uri.path == "/allowed" })
      p Pelton::HTTP.get(url + "/allowed").body, error_of { Pelton::HTTP.get(url + "/other") }.class
      WebMock.disable_net_connect!(allow_localhost: true)
      p Pelton::HTTP.get(url + "/local").body
      WebMock.allow_net_connect!
      stub_request(:get, url + "/stubbed").to_return(body: "stubbed")
      p Pelton::HTTP.get(url + "/any").body, Pelton::HTTP.get(url + "/stubbed").body
      assert_requested(:get, /./, times: 5)
    RUBY

    assert_equal ['"real /allowed"', "WebMock::NetConnectNotAllowedError", '"real /local"', '"real /any"', '"stubbed"'],
      lines
    assert_equal %w[/allowed /local /any], server.seen.map(&:path)
  end

  def test_callbacks
    server = script do |request, _|
      next "HTTP/1.1 204 No Content\r\n\r\n" if request.path == "/none"
      ok("grün", "X-Some: 1\r\nX-Some: 2\r\nContent-Type: text/plain\r\n")
    end
    lines = webmock_output(<<~RUBY, server.url)
      WebMock.allow_net_connect!
      url = ARGV.first
      report = ->(name) do
        ->(request, response) { p [name, request.method, request.uri.path, *response.status, response.body] }
      end
      WebMock.after_request(&report.call(:all))
      WebMock.after_request(real_requests_only: true, &report.call(:real))
      WebMock.after_request(real_requests_only: true) { |_, response| p response.headers["X-Some"] }
      WebMock.after_request(except: [:pelton], &report.call(:others))
      stub_request(:get, url + "/stubbed").to_return(body: "stubbed")
      stub_request(:get, url + "/late").to_timeout
      p Pelton::HTTP.post(url, body: "b").body
      Pelton::HTTP.get(url + "/stubbed")
      p error_of { Pelton::HTTP.get(url + "/late") }.class
      p Pelton::HTTP.get(url + "/none").status
    RUBY

    assert_equal ['[:all, :post, "/", 200, "OK", "grün"]', '[:real, :post, "/", 200, "OK", "grün"]', '["1", "2"]',
      '"grün"', '[:all, :get, "/stubbed", 200, "", "stubbed"]', '[:all, :get, "/late", 200, "", ""]',
      "Pelton::TimeoutError", '[:all, :get, "/none", 204, "No Content", ""]',
      '[:real, :get, "/none", 204, "No Content", ""]', "nil", "204"], lines
  end

  # Only then is a callback called: it gets the whole body.
  def test_a_stream_that_is_allowed_passes_on_and_its_callback_comes_at_the_end
    more = Queue.new
    server = script do |request, socket|
      next ok.tap { more << true } if request.path == "/more"
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
      more.pop
      "3\r\ntwo\r\n0\r\n\r\n"
    end
    lines = webmock_output(<<~RUBY, server.url)
      WebMock.allow_net_connect!
      WebMock.after_request { |request, response| p [request.uri.path, response.body] }
      Pelton::HTTP.get(ARGV.first, stream: true).each do |piece|
        p piece
        Pelton::HTTP.get("\#{ARGV.first}/more") if piece == "one"
      end
      response = Pelton::HTTP.get(ARGV.first, stream: true)
      response.each { |piece| (p piece) && break }
      p :given_up
    RUBY

    assert_equal ['"one"', '["/more", ""]', '"two"', '["/", "onetwo"]', '"one"', '["/", "one"]', ":given_up"], lines
  end

  # Nobody can read them any more, or close them: the pool takes their connections back.
  def test_responses_that_were_forgotten
    server = script { "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" }
    assert_equal ["200"], webmock_output(<<~RUBY, server.url)
      WebMock.allow_net_connect!
      WebMock.after_request { nil }
      client = Pelton::HTTP::Client.new(ARGV.first, concurrency: 20)
      def forget(client, depth = 20) = depth.zero? ? client.get("/", stream: true) : forget(client, depth - 1)
      20.times { Fiber.new { forget(client).then { nil } }.resume }
      begin
        GC.start
        p client.get("/", stream: true, pool_timeout: 0.01).status
      rescue Pelton::TimeoutError
        retry
      end
    RUBY
  end

  # The response is garbage, but its connection has been another one's for long.
  def test_a_connection_that_is_used_again_is_not_taken_away
    server = script { ok("x" * 1_000_000) } # more than is received with the head
    assert_equal ["1000000"], webmock_output(<<~RUBY, server.url)
      WebMock.allow_net_connect!
      WebMock.after_request { nil }
      client = Pelton::HTTP::Client.new(ARGV.first, concurrency: 1)
      Pelton.run do
        20.times { client.get("/", stream: true).each { nil } }
        response = client.get("/", stream: true)
        GC.start
        Pelton::Reactor.current.yield
        p response.body.size
      end
    RUBY
    assert_equal 1, server.connections
  end

  def test_nothing_is_recorded_without_a_callback
    server = script { ok("real") }
    without, with = webmock_output(<<~RUBY, server.url)
      WebMock.allow_net_connect!
      recorded = -> { ObjectSpace.each_object(Pelton::Integrations::WebMock::RecordedBody).any? }
      puts "\#{Pelton::HTTP.get(ARGV.first).body}, recorded: \#{recorded.call}"
      WebMock.after_request { nil }
      response = Pelton::HTTP.get(ARGV.first)
      puts "\#{response.body}, recorded: \#{recorded.call}"
    RUBY

    assert_equal "real, recorded: false", without
    assert_equal "real, recorded: true", with
  end

  def test_the_body_of_a_real_request_that_can_be_read_once
    server = script { |request, _| ok("#{request.headers["transfer-encoding"]} #{request.body}") }
    lines = webmock_output(<<~RUBY, server.url)
      WebMock.allow_net_connect!
      WebMock.after_request { |request, _| p request.body }
      pieces = Enumerator.new { |all| %w[one two].each { |piece| all << piece } }
      p Pelton::HTTP.post(ARGV.first, body: pieces).body
      IO.pipe do |reader, writer|
        writer << "piped"
        writer.close
        p Pelton::HTTP.post(ARGV.first, body: reader).body
      end
    RUBY

    assert_equal ['"onetwo"', '"chunked onetwo"', '"piped"', '"chunked piped"'], lines
  end

  # ---- whether it is in effect

  def test_it_is_disabled_and_enabled_with_the_others
    server = script { |_, _| ok("real") }
    lines = webmock_output(<<~RUBY, server.url)
      stub_request(:get, ARGV.first).to_return(body: "stubbed")
      body = -> { p Pelton::HTTP.get(ARGV.first).body }
      body.call
      WebMock.disable!
      body.call
      WebMock.enable!
      body.call
      WebMock.disable!(except: [:net_http])
      body.call
      WebMock.disable!(except: [:pelton])
      body.call
      WebMock.enable!(except: [:pelton])
      body.call
    RUBY

    assert_equal %w["stubbed" "real" "stubbed" "real" "stubbed" "real"], lines
  end

  def test_it_does_not_matter_which_library_comes_first
    server = script { |_, _| ok("real") }
    after = "stub_request(:get, ARGV.first).to_return(body: 'stubbed')\nputs Pelton::HTTP.get(ARGV.first).body\n" \
      "assert_requested(:get, ARGV.first, times: 1)"
    webmock = "require 'webmock'\nWebMock.enable!\ninclude WebMock::API\n"
    client = "require 'pelton/http'\nPelton::HTTP.client\n"

    assert_equal ["stubbed"], webmock_output(after, server.url, setup: webmock + client)
    assert_equal ["stubbed"], webmock_output(after, server.url, setup: client + webmock)
    assert_empty server.seen
    assert_equal %w[real stubbed], webmock_output(<<~RUBY + after, server.url, setup: client)
      Pelton::HTTP::Client.new(keep_alive: 0).get(ARGV.first).then { |response| puts response.body }
      #{webmock}
    RUBY
    assert_equal 1, server.seen.size
  end

  def test_a_library_that_is_not_enabled_changes_nothing
    server = script { |_, _| ok("real") }
    assert_equal ["real", "false"], webmock_output(<<~RUBY, server.url, setup: "")
      require "pelton/http"
      require "webmock"
      puts Pelton::HTTP.get(ARGV.first).body
      p Pelton::HTTP::Client.ancestors.include?(Pelton::Integrations::WebMock::Exchange)
    RUBY
  end

  def test_the_guide_s_program
    guide = File.read(File.join(ROOT, "docs/guides/http_client.md"), encoding: "UTF-8")
    program = guide[/^## Testing with WebMock$(.*)/m].lines.grep(/\A(?: {4}|\s*\z)/).join

    assert_includes webmock_output(program, setup: ""), "2 runs, 2 assertions, 0 failures, 0 errors, 0 skips"
  end

  # ---- VCR

  CASSETTES = <<~'RUBY'
    require "pelton/faraday"
    require "vcr"
    VCR.configure do |config|
      config.cassette_library_dir = ARGV[1]
      config.hook_into :webmock
    end
    def ask(url)
      VCR.use_cassette("all") do
        puts Pelton::HTTP.get("#{url}/a").body, Pelton::HTTP.post("#{url}/b", json: {c: "d"}).json
        puts Pelton::HTTP.get("#{url}/events", stream: true).each_event.map(&:data).join(" ")
        puts Faraday.new(url) { |one| one.adapter :pelton }.get("/gzip").body
      end
    end
  RUBY

  def test_vcr_records_and_replays
    server = script do |request, _|
      case request.path
      when "/events" then ok("data: 1\n\ndata: 2\n\n", "Content-Type: text/event-stream\r\n")
      when "/gzip" then ok(Zlib.gzip("gelöscht"), "Content-Encoding: gzip\r\nContent-Type: text/plain\r\n")
      when "/b" then ok(request.body, "Content-Type: application/json\r\n")
      else ok("grün", "Content-Type: text/plain\r\n")
      end
    end
    expected = ["grün", '{"c"=>"d"}', "1 2", "gelöscht"]
    Dir.mktmpdir do |folder|
      assert_equal expected, webmock_output("ask(ARGV.first)", server.url, folder, setup: CASSETTES)
      assert_equal %w[/a /b /events /gzip], server.seen.map(&:path)
      assert_equal 4, File.read("#{folder}/all.yml").scan(/^- request:/).size
      assert_includes File.read("#{folder}/all.yml"), "grün"
      assert_equal expected, webmock_output("Pelton.run { ask(ARGV.first) }", server.url, folder, setup: CASSETTES)
    end
    assert_empty server.seen
  end
end
