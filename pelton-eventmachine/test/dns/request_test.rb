# frozen_string_literal: true

require_relative "../helper"
require "support/name_server"

class EventMachineDNSRequestTest < EventMachineTest
  def setup
    @servers = []
  end

  def teardown
    EM::DNS::Resolver.nameservers = nil
    @servers.each(&:close)
    super
  end

  def test_an_ipv4_address
    serve_names({"a.test" => %w[192.0.2.1 192.0.2.2]})

    assert_equal [:ok, %w[192.0.2.1 192.0.2.2]], resolve("a.test")
    assert_equal [:ok, %w[192.0.2.1 192.0.2.2]], resolve("A.Test.")
  end

  def test_an_ipv6_address_if_there_is_no_ipv4_address
    serve_names({"six.test" => %w[2001:db8::1]})

    assert_equal [:ok, %w[2001:DB8::1]], resolve("six.test").then { |status, found| [status, found.map(&:upcase)] }
  end

  def test_an_address_resolves_to_itself
    EM::DNS::Resolver.nameservers = []

    assert_equal [:ok, ["192.0.2.9"]], resolve("192.0.2.9")
    assert_equal [:ok, ["::1"]], resolve("::1")
  end

  def test_an_unknown_name
    serve_names({})

    assert_equal [:failed, "rcode=3"], resolve("none.test")
  end

  def test_a_name_without_addresses
    serve_names({"empty.test" => []})

    assert_equal [:failed, "rcode=0"], resolve("empty.test")
  end

  def test_a_long_answer_comes_by_tcp
    all = (1..200).map { |last| "192.0.2.#{last}" }
    serve_names({"long.test" => all})

    assert_equal [:ok, all], resolve("long.test")
  end

  def test_answers_to_other_questions_are_ignored
    server = serve_names({"a.test" => ["192.0.2.1"]}, lies: ["192.0.2.66"])

    assert_equal [:ok, ["192.0.2.1"]], resolve("a.test")
    assert_equal 0, server.asked_by_tcp
  end

  def test_a_silent_server_is_asked_again
    server = serve_names({"a.test" => ["192.0.2.1"]}, silent: 2)

    assert_equal [:ok, ["192.0.2.1"]], resolve("a.test", retry_interval: 0.2)
    assert_operator server.asked, :>=, 3
  end

  def test_a_request_fails_after_the_last_try
    server = serve_names({}, silent: 10)

    assert_equal [:failed, "retries exceeded"], resolve("a.test", retry_interval: 0.001)
    eventually("the last question") { server.asked == 5 }
  end

  def test_another_server_is_asked_when_one_refuses
    serve_names({"a.test" => ["192.0.2.1"]})
    EM::DNS::Resolver.nameservers += ["127.0.0.1:#{free_port}"]

    10.times { assert_equal [:ok, ["192.0.2.1"]], resolve("a.test") }
  end

  def test_errors_of_callbacks_reach_the_error_handler
    error = nil
    EM.error_handler { |raised| EM.stop.then { error = raised.message } }
    em { EM::DNS::Resolver.resolve("localhost").callback { raise "mine" } }

    assert_equal "mine", error
  end

  private

  def serve_names(names, **options)
    NameServer.new(names, **options).tap do |server|
      @servers << server
      EM::DNS::Resolver.nameservers = ["127.0.0.1:#{server.port}"]
    end
  end

  def resolve(name, retry_interval: 3)
    outcome_of { EM::DNS::Resolver.resolve(name).tap { |request| request.retry_interval = retry_interval } }
  end
end
