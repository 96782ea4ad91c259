# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/http"

class HTTPContentCodingTest < PeltonTest
  ContentCoding = Pelton::HTTP::ContentCoding

  def test_a_coding_that_is_accepted
    ["gzip", "GZip", "br, gzip", "gzip;q=0.5, br", "gzip ; q=0.001", "deflate , gzip;q=1.0", "*",
      "br;q=0, *;q=0.1"].each do |header|
      assert ContentCoding.accepted?(header, "gzip"), header
    end
  end

  def test_a_coding_that_is_not
    [nil, "", "br", "gzip;q=0", "gzip; q=0.000", "identity", "*;q=0", "gzip;q=0, *", "*, gzip;q=0", "xgzip", "gzipx",
      ",,;", "\xff".b].each do |header|
      refute ContentCoding.accepted?(header, "gzip"), header
    end
  end

  def test_vary
    assert_equal "accept-encoding", ContentCoding.vary(nil)
    assert_equal "accept-encoding", ContentCoding.vary("")
    assert_equal "cookie, accept-encoding", ContentCoding.vary("cookie")
    ["Accept-Encoding", "cookie,accept-encoding", "*"].each { |header| assert_equal header, ContentCoding.vary(header) }
  end
end
