# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/http/client_styles"

class HTTPClientCookieJarTest < PeltonTest
  include HTTPScripts

  URL = "http://shop.example/a/b"

  def setup
    super
    @jar = Pelton::HTTP::CookieJar.new
  end

  def test_longer_paths_come_first_and_then_those_that_were_set_first
    @jar.store(URL, ["one=1; Path=/", "two=2; Path=/a", "three=3; Path=/", "four=4; Path=/c"])
    @jar.store(URL, "one=5; Path=/")

    assert_equal "two=2; one=5; three=3", @jar._header(URI(URL))
    assert_equal({"two" => "2", "one" => "5", "three" => "3"}, @jar.cookies(URL))
  end

  def test_a_server_removes_a_cookie
    @jar.store(URL, %w[a=1 b=2])
    @jar.store(URL, "a=; Max-Age=0")

    assert_equal "b=2", @jar._header(URI(URL))
    @jar.clear

    assert_nil @jar._header(URI(URL))
  end

  def test_it_is_bounded
    jar = Pelton::HTTP::CookieJar.new(most: 4, most_of_domain: 3)
    4.times { |number| jar.store(URL, "a#{number}=1") }

    assert_equal %w[a1 a2 a3], jar.cookies(URL).keys
    3.times { |number| jar.store("http://#{number}.example/", "b=1") }

    assert_equal 4, jar.size
    assert_equal %w[a3], jar.cookies(URL).keys
  end

  def test_a_public_suffix
    jar = Pelton::HTTP::CookieJar.new(public_suffix: ->(domain) { domain == "co.example" })
    jar.store("http://shop.co.example/", ["a=1; Domain=co.example", "b=2; Domain=shop.co.example"])

    assert_equal({"b" => "2"}, jar.cookies("http://www.shop.co.example/"))
  end

  def test_it_shows_no_values
    @jar.store(URL, "secret=1")

    refute_includes @jar.inspect, "secret"
  end

  def test_a_client_keeps_cookies_and_sends_them_also_after_redirects
    Pelton.run do
      answers = {
        "/sign_in" => set("session=1", "302 Found", "Location: /home\r\n"),
        "/home" => set("seen=yes; Path=/"),
        "/out" => set("session=; Max-Age=0")
      }
      server = script { |request, _| answers.fetch(request.path) { set(nil) } }
      client = Pelton::HTTP::Client.new(server.url, cookies: true)
      %w[/sign_in / /out /].each { |path| client.get(path) }

      assert_equal [nil, "session=1", "session=1; seen=yes", "session=1; seen=yes", "seen=yes"],
        server.seen.map { |request| request.headers["cookie"] }
      assert_equal({"seen" => "yes"}, client.cookies.cookies(server.url))
    end
  end

  def test_a_header_of_the_program_takes_precedence
    Pelton.run do
      server = script { |_, _| set(nil) }
      client = Pelton::HTTP::Client.new(server.url, cookies: @jar)
      @jar.store(server.url, %w[a=1 b=2])
      client.get("/", headers: {"cookie" => "a=mine; c=3"})
      client.get("/", headers: {"cookie" => nil})
      Pelton::HTTP::Client.new(server.url).get("/")

      assert_equal ["a=mine; c=3; b=2", nil, nil], server.seen.map { |request| request.headers["cookie"] }
    end
  end

  # 127.0.0.1 is another host than localhost.
  def test_another_host_gets_none
    Pelton.run do
      server = script do |request, _|
        (request.path == "/away") ? set("a=1", "302 Found", "Location: http://127.0.0.1:#{@port}/\r\n") : set(nil)
      end
      @port = server.port
      Pelton::HTTP::Client.new(server.url, cookies: @jar).get("/away")

      assert_equal [nil, nil], server.seen.map { |request| request.headers["cookie"] }
      assert_equal 1, @jar.size
    end
  end

  private

  def set(cookie, status = "200 OK", more = "")
    "HTTP/1.1 #{status}\r\n#{"Set-Cookie: #{cookie}\r\n" if cookie}#{more}Content-Length: 0\r\n\r\n"
  end
end
