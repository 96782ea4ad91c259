# frozen_string_literal: true

require_relative "../test_helper"
require "minitest/mock"
require "pelton"

class ResolverTest < PeltonTest
  self.deadline = 15

  def test_an_address_takes_no_thread
    threads = Pelton::Resolver::POOL.stats[:threads]

    assert_equal ["127.0.0.1", 80], resolve("127.0.0.1", 80).first.ip_unpack
    assert_equal ["::1", 443], resolve("::1", "443").first.ip_unpack
    assert_equal ["::1", 80], resolve("[::1]", 80).first.ip_unpack
    assert_equal threads, Pelton::Resolver::POOL.stats[:threads]
  end

  def test_a_name
    addresses = Pelton.run { resolve("localhost", 80, timeout: 5) }

    assert_includes addresses.map(&:ip_unpack), ["127.0.0.1", 80]
    assert(addresses.all? { |address| address.socktype == Socket::SOCK_STREAM })
    assert_equal addresses.map(&:to_sockaddr), resolve("localhost", 80).map(&:to_sockaddr)
  end

  def test_the_loop_goes_on_while_a_name_server_is_slow
    gate = Queue.new
    addresses = with_answers(-> { gate.pop && [Addrinfo.tcp("192.0.2.1", 80)] }) do
      Pelton.run do
        Pelton.spawn { gate << 1 }
        resolve("slow.example", 80)
      end
    end

    assert_equal ["192.0.2.1"], addresses.map(&:ip_address)
  end

  def test_slow_name_servers_leave_threads_to_others
    gate = Queue.new
    with_answers(-> { gate.pop && [] }) do
      Pelton.run do
        tasks = Array.new(30) { Pelton.spawn { resolve("slow.example", 80) } }
        eventually("ten at work") { gate.num_waiting == 10 }

        assert_equal :free, Pelton.offload { :free }
        assert_equal 10, Pelton.stats[:resolver][:threads]
        30.times { gate << 1 }
        tasks.each(&:await)
      end
    end
  end

  def test_families_take_turns_and_the_systems_first_is_first
    assert_equal %w[::1 192.0.2.1 ::2 192.0.2.2 ::3], resolved(%w[::1 ::2 ::3 192.0.2.1 192.0.2.2])
    assert_equal %w[192.0.2.1 ::1 ::2], resolved(%w[192.0.2.1 ::1 ::2])
    assert_equal %w[192.0.2.2 192.0.2.1], resolved(%w[192.0.2.2 192.0.2.1])
  end

  def test_a_name_that_does_not_exist
    error = Pelton.run { assert_raises(Pelton::ResolutionError) { resolve("no-such-name.invalid", 80) } }

    assert_match(/"no-such-name.invalid"/, error.message)
    assert_predicate error, :retriable?
    assert_raises(Pelton::ResolutionError) { resolve("1.2.3.4.5", 80) }
  end

  def test_a_timeout
    gate = Queue.new
    with_answers(-> { gate.pop }) do
      assert_raises(Pelton::TimeoutError) { Pelton.run { resolve("slow.example", 80, timeout: 0.001) } }
      assert_raises(Pelton::TimeoutError) { resolve("slow.example", 80, timeout: 0.001) }
    end
  ensure
    2.times { gate << [] }
  end

  private

  def resolve(...) = Pelton::Resolver.resolve(...)

  # Returns the order of addresses for an answer of the system's resolver.
  def resolved(addresses)
    with_answers(-> { addresses.map { |address| Addrinfo.tcp(address, 80) } }) do
      resolve("name.example", 80).map(&:ip_address)
    end
  end

  # Replaces the answers of the system's resolver while the block runs.
  def with_answers(answer, &block) = Addrinfo.stub(:getaddrinfo, ->(*) { answer.call }, &block)
end
