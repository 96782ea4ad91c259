# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/certificates"
require "logger"
require "stringio"
require "pelton/http"

class HTTPRefusalLogTest < PeltonTest
  Time = Struct.new(:now)

  def test_a_scan_does_not_flood_the_log
    clock = Time.new(100.0)
    made = 0
    lines = logged do
      log = Pelton::HTTP::RefusalLog.new(clock: clock)
      25.times { log.add { "refused #{made += 1}" } }
      clock.now += 60
      log.add { "refused later" }
    end

    assert_equal [*(1..10).map { |number| "refused #{number}" }, Pelton::HTTP::RefusalLog::FULL, "refused later"], lines
    assert_equal 10, made
  end

  def test_malformed_requests_and_failed_handshakes_are_logged_and_counted
    server = Pelton::HTTP::Server.new(->(_env) { [200, {}, []] })
    lines = logged do
      plain, secure =
        server.listen("tcp://127.0.0.1:0"), server.listen("ssl://127.0.0.1:0", tls: Certificates.server.to_h)
      ask(plain.port, "no request\r\n\r\n")
      ask(secure.port, "no handshake\r\n\r\n")
      server.stop
    end

    assert_match(/\AHTTP: 400 to 127\.0\.0\.1: ./, lines.first)
    assert_match(/\AHTTP: no TLS with 127\.0\.0\.1: TLS handshake: ./, lines.last)
    assert_equal 2, lines.size
    assert_equal [1, 1], server.stats.values_at(:refused, :failed_handshakes)
  end

  private

  def ask(port, bytes)
    stream = Pelton.connect("127.0.0.1", port)
    stream.write(bytes)
    stream.read
  rescue Pelton::ConnectionError # reset
  ensure
    stream.close
  end

  # The lines that Pelton logs at the level info while the block runs in a reactor.
  def logged(&block)
    before = Pelton.logger
    output = StringIO.new
    Pelton.logger = Logger.new(output, formatter: ->(severity, _time, _program, message) { "#{severity} #{message}\n" })
    Pelton.run(&block)
    output.string.lines(chomp: true).map { |line| line.delete_prefix("INFO ") }
  ensure
    Pelton.logger = before
  end
end
