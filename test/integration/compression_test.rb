# frozen_string_literal: true

require "brotli"
require "zstd-ruby"
require_relative "../support/http/peer"

# Brotli and Zstandard by their gems, and clients that others have made.
class CompressionTest < PeltonTest
  include HttpPeer

  TEXT = Array.new(300) { |number| "Line #{number} of a text with äöü.\n" }.join.freeze
  HEADERS = {"content-type" => "text/html; charset=utf-8"}.freeze
  DECODERS =
    {"gzip" => Zlib.method(:gunzip), "br" => Brotli.method(:inflate), "zstd" => Zstd.method(:decompress)}.freeze

  def whole(_env) = [200, HEADERS.dup, [TEXT]]

  def in_parts(_env) = [200, HEADERS.dup, TEXT.lines.each_slice(50).map(&:join).each]

  def test_each_coding_of_a_whole_text
    serving(method(:whole), gzip: true) { |connection = peer| assert_each_coding(connection) }
  end

  def test_each_coding_of_a_text_in_parts
    serving(method(:in_parts), gzip: true) { |connection = peer| assert_each_coding(connection) }
  end

  def test_the_best_one_that_the_client_takes
    serving(method(:whole), gzip: true) do
      connection = peer
      chosen = ["gzip, deflate, br, zstd", "gzip, deflate, br", "br;q=0, gzip", "*"].map do |accept|
        connection.get("/", "Accept-Encoding: #{accept}\n")["content-encoding"]
      end

      assert_equal %w[zstd br gzip zstd], chosen
    end
  end

  def test_curl_decodes_it
    [method(:whole), method(:in_parts)].each do |app|
      serving(app, gzip: true) do
        url = "http://127.0.0.1:#{peer.io.remote_address.ip_port}/"
        read = Thread.new { IO.popen(["curl", "-s", "--compressed", url], &:read) }.value

        assert_equal TEXT, read.force_encoding("UTF-8")
      end
    end
  end

  private

  def assert_each_coding(connection)
    DECODERS.each do |coding, decode|
      response = connection.get("/", "Accept-Encoding: #{coding}\n")

      assert_equal coding, response["content-encoding"]
      assert_equal TEXT, decode.call(response.body).dup.force_encoding("UTF-8"), coding
      assert_operator response.body.bytesize, :<, TEXT.bytesize / 2, coding
    end
  end
end
