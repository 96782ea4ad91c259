# frozen_string_literal: true

require "zlib"
require_relative "../../test_helper"
require "pelton/http"

class HTTPCompressionBodyTest < PeltonTest
  Parts = Struct.new(:parts, :closed) do
    def each(&block) = parts.each(&block)

    def close = self.closed = true
  end

  # The parts that a client gets, and the body.
  def body(parts)
    app = Pelton::HTTP::Compression.new(->(_env) { [200, {"content-type" => "text/plain"}, parts] },
      level: 1, cookies: false)
    app.call({"REQUEST_METHOD" => "GET", "HTTP_ACCEPT_ENCODING" => "gzip"})[2]
  end

  # Otherwise a page that is written in parts would come all at once, at its end.
  def test_each_part_can_be_read_when_it_has_come
    inflate = Zlib::Inflate.new(Zlib::MAX_WBITS + 16)
    read = body(Parts.new(%w[one two three])).enum_for(:each).map { |part| inflate.inflate(part) }

    assert_equal ["one", "two", "three", ""], read
    assert_predicate inflate, :finished?
  end

  def test_an_empty_part
    assert_equal "ab", Zlib.gunzip(body(Parts.new(["a", "", "b"])).enum_for(:each).to_a.join)
  end

  def test_no_part
    assert_equal "", Zlib.gunzip(body(Parts.new([])).enum_for(:each).to_a.join)
  end

  def test_close
    parts = Parts.new(["a"])
    body(parts).close

    assert parts.closed
    assert_nil body(["a"].each).close
  end

  def test_an_error_of_the_body_is_raised
    failing = Enumerator.new do |yielder|
      yielder << "a"
      raise "failed"
    end

    assert_equal "failed", assert_raises(RuntimeError) { body(failing).each { |part| part } }.message
  end
end
