# frozen_string_literal: true

require_relative "../../support/http/peer"

# Requests as Rack's env (ext/pelton/ruby/http/request/env.c, env_headers.c).
class HTTPEnvTest < PeltonTest
  include HttpPeer

  def env_of(request, **options)
    env = nil
    app = lambda do |given|
      env = given.dup
      [200, {}, []]
    end
    serving(app, **options) { peer.say(request).response }
    env
  end

  def test_the_request_line
    env = env_of("GET /a/b%20c?d=e&f HTTP/1.1\nHost: example.org:8080\n\n")

    assert_equal %w[GET /a/b%20c d=e&f HTTP/1.1 /a/b%20c?d=e&f],
      env.values_at("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "SERVER_PROTOCOL", "REQUEST_URI")
    assert_equal %w[example.org 8080 example.org:8080 127.0.0.1],
      env.values_at("SERVER_NAME", "SERVER_PORT", "HTTP_HOST", "REMOTE_ADDR")
    assert_equal ["", "http"], env.values_at("SCRIPT_NAME", "rack.url_scheme")
  end

  def test_names_and_ports
    {"Host: a" => %w[a 80], "Host: [::1]:81" => %w[[::1] 81], "Host: [::1]" => %w[[::1] 80],
     "Host:" => %w[localhost 80]}
      .each do |line, expected|
        assert_equal expected, env_of("GET / HTTP/1.1\n#{line}\n\n").values_at("SERVER_NAME", "SERVER_PORT"), line
      end
    assert_equal %w[localhost 443 https],
      env_of("GET / HTTP/1.0\n\n", secure: true).values_at("SERVER_NAME", "SERVER_PORT", "rack.url_scheme")
  end

  # The server keeps the last host for the next request.
  def test_hosts_that_change
    names = []
    app = ->(env) { names << env.values_at("SERVER_NAME", "SERVER_PORT").join(":") and [200, {}, []] }
    requests = ["1.1\nHost: a:1", "1.1\nHost: a:1", "1.0", "1.1\nHost: b", "1.0", "1.1\nHost: a:1"]
    serving(app) { requests.each { |rest| peer.say("GET / HTTP/#{rest}\nConnection: keep-alive\n\n").response } }

    assert_equal %w[a:1 a:1 localhost:80 b:80 localhost:80 a:1], names
  end

  def test_headers
    env =
      env_of(
        "GET / HTTP/1.1\nHost: h\nuser-agent: a\nX-Very-Own: b\nCONTENT-TYPE: text/plain\nCookie: c=d\nAccept:\n\n"
      )

    assert_equal ["a", "b", "text/plain", "c=d", ""],
      env.values_at("HTTP_USER_AGENT", "HTTP_X_VERY_OWN", "CONTENT_TYPE", "HTTP_COOKIE", "HTTP_ACCEPT")
    refute env.key?("HTTP_CONTENT_TYPE")
  end

  def test_headers_that_come_again_are_one_list
    env = env_of("GET / HTTP/1.1\nHost: h\nAccept: a\nX-Own: b\nCookie: a=b\naccept: c\nx-own: d\nCookie: c=d\n\n")

    assert_equal ["a, c", "b, d", "a=b; c=d"], env.values_at("HTTP_ACCEPT", "HTTP_X_OWN", "HTTP_COOKIE")
  end

  # X_Forwarded_For would be X-Forwarded-For; Proxy would be a program's setting.
  def test_headers_that_would_be_taken_for_others_are_dropped
    env = env_of("GET / HTTP/1.1\nHost: h\nX-Forwarded-For: a\nX_Forwarded_For: b\nProxy: c\nContent_Length: 5\n\n")

    assert_equal "a", env["HTTP_X_FORWARDED_FOR"]
    refute env.key?("HTTP_PROXY")
    refute env.key?("CONTENT_LENGTH")
  end

  def test_forwarded_addresses_are_not_believed
    assert_equal "127.0.0.1", env_of("GET / HTTP/1.1\nHost: h\nX-Forwarded-For: 1.2.3.4\n\n")["REMOTE_ADDR"]
  end

  def test_absolute_targets_name_the_host
    env = env_of("GET http://other:81/a?b HTTP/1.1\nHost: h\n\n")

    assert_equal %w[/a b other 81 other:81],
      env.values_at("PATH_INFO", "QUERY_STRING", "SERVER_NAME", "SERVER_PORT", "HTTP_HOST")
    assert_equal "/", env_of("GET http://other HTTP/1.1\nHost: h\n\n")["PATH_INFO"]
  end

  def test_the_asterisk
    assert_equal %w[OPTIONS *], env_of("OPTIONS * HTTP/1.1\nHost: h\n\n").values_at("REQUEST_METHOD", "PATH_INFO")
  end

  def test_methods_that_are_not_known
    assert_equal "PURGE", env_of("PURGE / HTTP/1.1\nHost: h\n\n")["REQUEST_METHOD"]
  end

  def test_an_env_is_its_requests_own
    seen = []
    app = lambda do |env|
      seen << env["own"] << env["QUERY_STRING"].dup
      env["own"] = 1
      env["PATH_INFO"] << "changed"
      [200, {}, []]
    end
    serving(app, lint: false) do
      connection = peer
      connection.get("/?a")
      connection.get("/")
      seen << connection.get("/").status
    end
    assert_equal [nil, "a", nil, "", nil, "", 200], seen
  end

  # Fiber-locals of a request are gone in the next.
  def test_requests_begin_with_a_clean_set_of_locals
    seen = []
    app = lambda do |env|
      seen << Thread.current[:user]
      Thread.current[:user] = env["PATH_INFO"]
      sleep 0.001
      seen << Thread.current[:user]
      [200, {}, []]
    end
    serving(app) { 2.times { |i| peer.get("/#{i}") } }

    assert_equal [nil, "/0", nil, "/1"], seen
  end
end
