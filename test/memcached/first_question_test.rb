# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/memcached"

# (memcached_faults.rb has old servers, cut answers and silence in each style.)
class MemcachedFirstQuestionTest < PeltonTest
  def ask(answers)
    Pelton.run do
      ours, theirs = Pelton::Stream.pair
      theirs.write(answers)
      theirs.close_write
      begin
        Pelton::Memcached::FirstQuestion.new("a:1", ours, Pelton::Clock.now + 10).ask
      ensure
        ours.close
        @asked = theirs.read
        theirs.close
      end
    end
  end

  def refusal(answers) = assert_raises(Pelton::ProtocolError, answers) { ask(answers) }.message

  def test_memcached_since_1_6_10_speaks_the_protocol
    %w[1.6.10 1.6.18 1.6.100 1.7.0 1.10.1 2.0.1 1.6 unknown].each do |version|
      assert_nil ask("MN\r\nVERSION #{version}\r\n")
      assert_equal "mn\r\nversion\r\n", @asked
    end
  end

  def test_what_answers_without_a_version_speaks_it_as_well
    assert_nil ask("MN\r\nERROR\r\n")
  end

  def test_earlier_servers_are_refused
    ["1.4.5", "1.5.22", "1.6.0", "1.6.9", "1.6.9 Ubuntu", "1.6.9_1_gabcdef"].each do |version|
      assert_equal "memcached at a:1 has version #{version[/[\d.]+/]}: memcached 1.6.10 or later is needed",
        refusal("MN\r\nVERSION #{version}\r\n")
    end
    assert_equal "memcached at a:1 does not know meta commands: memcached 1.6.10 or later is needed",
      refusal("ERROR\r\nVERSION 1.5.22\r\n")
    assert_equal %q(memcached at a:1 answered "EN\r\n" instead of MN: memcached 1.6.10 or later is needed),
      refusal("EN\r\nVERSION 1.5.19\r\n")
  end

  def test_what_is_no_memcached_is_refused
    assert_match(%r{answered "HTTP/1.1 400 Bad Request\\r\\n" instead}, refusal("HTTP/1.1 400 Bad Request\r\n\r\n"))
    assert_match(/answered without the end of a line: /, refusal("x" * 5000))
    assert_match(/answered without the end of a line: /, refusal("MN\r\n#{"x" * 5000}"))
  end

  def test_what_closes_the_connection_may_be_a_proxy
    ["", "MN\r\n", "MN\r\nVERSION 1.6.1"].each do |answers|
      error = assert_raises(Pelton::ConnectionError, answers) { ask(answers) }
      assert_match(/ a:1 closed the connection when it was asked for meta commands \(a proxy /, error.message)
      assert_predicate error, :retriable?
    end
  end
end
