# frozen_string_literal: true

require "stringio"
require_relative "../../support/http/peer"

# Responses that an application may give, and the server's answer to those that it may not
# (ext/pelton/ruby/http/response/http_response.c).
class HTTPResponseTest < PeltonTest
  include HttpPeer

  def answer_of(response, request = "GET / HTTP/1.1\nHost: h\n\n", lint: false, head_only: false, **options)
    answer = nil
    serving(->(_env) { response }, lint: lint, **options) { answer = peer.say(request).response(head_only: head_only) }
    answer
  end

  def test_several_values_of_a_header
    assert_equal %w[a=b c=d], answer_of([200, {"set-cookie" => %w[a=b c=d]}, []], lint: true)["set-cookie"]
  end

  def test_headers_of_the_server_are_not_there_twice
    response = answer_of([200, {"date" => "x", "content-length" => "1", "connection" => "close"}, ["a"]])

    assert_equal %w[x 1 close], %w[date content-length connection].map { |name| response[name] }
  end

  def test_names_that_are_the_servers_are_not_sent
    refute_match(/rack/, answer_of([200, {"rack.secret" => "x"}, []]).head)
  end

  def test_values_that_are_no_strings
    response = answer_of(["201", {"a" => 1, :b => :c}, []])

    assert_equal 201, response.status
    assert_equal "1", response["a"]
    assert_equal "c", response["b"]
  end

  def test_nil_is_an_empty_field_or_leaves_a_header_to_the_server
    response = answer_of([200, {"a" => nil, "date" => nil, "content-length" => nil}, ["x"]])

    assert_equal "", response["a"]
    assert_equal "1", response["content-length"]
    assert_equal 29, response["date"].bytesize
  end

  # Rack::Files gives it; send_file of Rails and Sinatra's do not always.
  def test_the_length_of_a_file_is_known
    body = Class.new do
      def to_path = __FILE__

      def each = yield(File.binread(__FILE__))
    end.new
    response = answer_of([200, {}, body])

    assert_equal File.size(__FILE__).to_s, response["content-length"]
    assert_equal File.binread(__FILE__), response.body
    assert_equal File.size(__FILE__).to_s,
      answer_of([200, {}, body], "HEAD / HTTP/1.1\nHost: h\nConnection: close\n\n", head_only: true)["content-length"]
  end

  # Rails' send_file gives what its caller gave.
  def test_the_path_of_a_file_may_be_a_pathname
    body = Object.new
    body.define_singleton_method(:to_path) { Pathname.new(__FILE__) }
    body.define_singleton_method(:each) { |&block| block.call(File.binread(__FILE__)) }

    assert_equal File.binread(__FILE__), answer_of([200, {}, body], lint: false).body
  end

  {
    "CRLF in a value" => [200, {"a" => "b\r\nset-cookie: c=d"}, []],
    "LF in a value" => [200, {"a" => "b\nset-cookie: c=d"}, []],
    "NUL in a value" => [200, {"a" => "\0"}, []],
    "CRLF in a value of several" => [200, {"a" => ["b", "\r\nset-cookie: c=d"]}, []],
    "CRLF in a name" => [200, {"a\r\nset-cookie" => "b"}, []],
    "colon in a name" => [200, {"set-cookie:" => "b"}, []],
    "empty name" => [200, {"" => "b"}, []],
    "name that is no String" => [200, {1 => "b"}, []],
    "value that is no String" => [200, {"a" => Object.new}, []],
    "two lengths" => [200, {"content-length" => %w[0 0]}, []],
    "length that is no number" => [200, {"content-length" => "x"}, []],
    "length and coding" => [200, {"content-length" => "5", "transfer-encoding" => "chunked"}, ["0\r\n\r\n"]],
    "DEL in a value" => [200, {"a" => "\x7f"}, []],
    "line separator of one's own in a cookie" => [200, {"set-cookie" => "a=b\nset-cookie: c=d"}, []],
    "NUL in a name" => [200, {"a\0" => "b"}, []],
    "status 100" => [100, {}, []],
    "status 103" => [103, {}, []],
    "upgrade to nothing" => [101, {}, []],
    "hijack that cannot be called" => [200, {"rack.hijack" => 5}, []],
    "status with a header in it" => ["200\r\nset-cookie: a=b", {}, []],
    "negative status" => [-5, {}, []],
    "huge status" => [2**70, {}, []],
    "status 99" => [99, {}, []],
    "status 1000" => [1000, {}, []],
    "status that is no number" => ["x", {}, []],
    "part that is no String" => [200, {}, [1]],
    "body that is nil" => [200, {}, nil],
    "body that is a String" => [200, {}, "hello"],
    "body that is a number" => [200, {"content-length" => "1"}, 5],
    "no triple" => [200, {}],
    "nil" => nil,
    "headers that are no Hash" => [200, 5, []]
  }.each do |name, response|
    define_method("test_#{name.gsub(/\W+/, "_")}_is_refused") do
      answer = answer_of(response)

      assert_equal 500, answer.status
      assert_equal "Internal Server Error\n", answer.body
      assert_nil answer["set-cookie"]
      assert_equal 1, reported.size
    end
  end

  # Whoever reads the log wants to know which request it was; and an error without a backtrace came from no line of
  # Ruby.
  def test_the_log_names_the_request_that_failed
    Pelton.on_error
    Pelton.logger = log = StringIO.new
    app = ->(env) { (env["PATH_INFO"] == "/raises") ? raise("boom") : [200, {"x" => "a\r\nb"}, []] }
    serving(app, lint: false) { %w[/raises?q=1 /malformed].each { |path| assert_equal 500, peer.get(path).status } }

    assert_match(%r{^pelton: GET /raises: unhandled error\n.*response_test.rb:\d+:.*boom \(RuntimeError\)}, log.string)
    assert_match(%r{^pelton: GET /malformed: unhandled error\nthe header "x" is malformed.* \(ArgumentError\)$},
      log.string)
  ensure
    Pelton.logger = $stderr
  end

  def test_the_error_says_what_a_body_is
    [nil, "hello", 5].each { |body| answer_of([200, {}, body]) }

    messages = ["nil as the body: return an Array of Strings ([] for",
      "of String as the body: return an Array of Strings ([the String])", "of Integer as the body"]
    reported.zip(messages) { |error, message| assert_includes error.message, message }
  end

  # What is not sent need not be there.
  def test_no_body_where_none_is_sent
    assert_equal 204, answer_of([204, {}, nil]).status
    assert_equal 304, answer_of([304, {}, nil]).status
    serving(->(_env) { [200, {}, nil] }, lint: false) { assert_equal 200, peer.get("/", method: "HEAD").status }
  end

  def test_who_asks_for_the_end_gets_the_application_s_error
    apps = {
      "raises" => ->(_env) { raise "boom" }, "malformed" => ->(_env) { [200, {"x" => "\n"}, []] },
      "breaks off" => ->(_env) { [200, {}, Enumerator.new { |parts| (parts << "a") && raise("in the middle") }] },
      "fine" => HELLO
    }
    seen = []
    apps.each_value do |app|
      wrapped = ->(env) {
        env["rack.response_finished"] << ->(_env, _status, _headers,
              error) { seen << error } and app.call(env)
      }
      serving(wrapped, lint: false) {
        begin
          peer.get("/")
        rescue
          EOFError
        end
      }
    end

    assert_equal reported, seen.compact
    assert_equal [RuntimeError, ArgumentError, RuntimeError, NilClass], seen.map(&:class)
    assert_equal ["boom", "in the middle"], seen.values_at(0, 2).map(&:message)
  end

  def test_an_application_that_raises
    serving(->(env) { (env["PATH_INFO"] == "/") ? raise("broken") : HELLO.call(env) }) do
      connection = peer

      assert_equal 500, connection.get("/").status
      assert_equal "hello", connection.get("/ok").body
      assert_equal 1, server.stats[:errors]
    end
    assert_equal ["broken"], reported.map(&:message)
  end

  # What the client sees says nothing of what is inside.
  def test_errors_that_are_no_standard_errors
    [NotImplementedError, SystemStackError, UncaughtThrowError].each do |error|
      app = (error == UncaughtThrowError) ? ->(_env) { throw :nowhere } : ->(_env) { raise error, "secret" }
      serving(app) do
        response = peer.get("/")

        assert_equal 500, response.status
        refute_match(/secret/, response.body)
      end
    end
    assert_equal 3, reported.size
  end

  def test_exit_in_an_application_ends_the_process
    assert_raises(SystemExit) { serving(->(_env) { exit 3 }) { peer.get("/") } }
  end

  def test_the_body_of_a_refused_response_is_closed
    closed = false
    body = Object.new
    body.define_singleton_method(:each) { |&_block| nil }
    body.define_singleton_method(:close) { closed = true }
    answer_of([200, {"a" => "\n"}, body])

    assert_equal true, closed
    assert_equal 1, reported.size
  end

  # A 204 has no body, however it is announced.
  def test_framing_of_what_has_no_body_is_not_sent
    response = answer_of([204, {"content-length" => "5", "transfer-encoding" => "chunked"}, ["hello"]])

    assert_nil response["content-length"]
    assert_nil response["transfer-encoding"]
  end

  def test_the_applications_own_framing
    response = answer_of([200, {"transfer-encoding" => "chunked"}, ["5\r\nhello\r\n0\r\n\r\n"]])

    assert_equal "hello", response.body
  end

  # Where only the connection's end can tell the body's, it does.
  def test_a_coding_that_has_no_end_of_its_own
    response = answer_of([200, {"transfer-encoding" => "gzip"}, ["hello"]])

    assert_equal "close", response["connection"]
  end

  def test_large_strings_are_sent_as_they_were
    text = +"x" * 200_000
    app = lambda do |_env|
      Pelton.next_tick { text.replace("changed") }
      [200, {}, [text]]
    end
    serving(app) { assert_equal "x" * 200_000, peer.get("/").body }
  end

  def test_the_date_is_todays
    before = Time.now
    date = Time.httpdate(answer_of([200, {}, []])["date"])

    assert_includes (before - 2)..Time.now, date # it has whole seconds
  end
end
