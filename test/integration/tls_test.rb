# frozen_string_literal: true

require "open3"
require_relative "../test_helper"
require_relative "../support/certificates"
require "pelton"

# What those see who scan servers for weak spots.
class TLSIntegrationTest < PeltonTest
  def test_sslscan_finds_nothing_weak
    skip "sslscan is missing" unless system("which", "sslscan", out: File::NULL)
    report = nil
    Pelton.run do
      listener = Pelton.listen("127.0.0.1", 0, tls: Certificates.server.to_h) { |stream| stream.on_data {} }
      report, = Open3.capture2("sslscan", "--no-colour", "127.0.0.1:#{listener.port}")
    ensure
      Pelton.stop
    end
    enabled = report.scan(/^(\S+)\s+enabled$/).flatten
    ciphers = report.scan(/^(?:Preferred|Accepted)\s+(\S+)\s+(\d+) bits\s+(\S+)/)

    assert_equal %w[TLSv1.2 TLSv1.3], enabled
    assert_match(/renegotiation not supported/, report)
    refute_match(/^TLSv\S+ vulnerable/, report)
    assert_operator ciphers.size, :>=, 4
    refute_match(/ffdhe/, report) # a client could have the server compute for long
    ciphers.each do |_, bits, name|
      assert_operator bits.to_i, :>=, 128
      assert_match(/\ATLS_|\AECDHE-.*(GCM|CHACHA20)/, name)
    end
  end
end
