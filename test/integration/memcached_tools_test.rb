# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/embedded_memcached"
require "open3"

# libmemcached's command line tools (Debian's libmemcached-tools) against the embedded memcached.
class MemcachedToolsTest < PeltonTest
  include EmbeddedMemcached

  self.deadline = 60

  def setup
    skip "libmemcached-tools is not installed" unless system("command -v memccapable >/dev/null")
  end

  def test_memccapable
    with_embedded_memcached do |port|
      output, status = Open3.capture2e("memccapable", "-h", "127.0.0.1", "-p", port.to_s, "-a")

      assert_predicate status, :success?, output
      assert_includes output, "All tests passed"
      assert_equal 27, output.scan("[pass]").size
    end
  end

  # memcaslap's keys have control characters. With -v it compares each value that it gets.
  def test_memcaslap
    with_embedded_memcached do |port|
      output, status = Open3.capture2e("memcaslap", "-s", "127.0.0.1:#{port}", "-T", "1", "-c", "8", "-x", "20000",
        "-v", "0.5")

      assert_predicate status, :success?
      refute_match(/ERROR/, output)
      assert_match(/^get_misses: 0$/, output)
      assert_match(/^verify_failed: 0$/, output)
    end
  end
end
