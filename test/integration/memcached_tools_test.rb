# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/embedded_memcached"
require "open3"
require "tmpdir"

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

  def test_keys_are_copied_there_read_listed_touched_and_removed
    with_embedded_memcached do |port|
      Dir.mktmpdir do |folder|
        files = {"small" => "hello\n", "empty" => "", "large" => Random.new(1).bytes(900_000)}
        files.each { |name, content| File.binwrite(File.join(folder, name), content) }

        run_tool(port, "memccp", *files.keys.map { |name| File.join(folder, name) })
        files.each { |name, content| assert_equal "#{content}\n", run_tool(port, "memccat", name), name }
        assert_equal files.keys.sort, run_tool(port, "memcdump").split.sort
        run_tool(port, "memcexist", "small")
        run_tool(port, "memctouch", "small")
        run_tool(port, "memcrm", "small")
        refute_predicate tool(port, "memcexist", "small").last, :success?
        run_tool(port, "memcflush")
        refute_predicate tool(port, "memcexist", "large").last, :success?
      end
    end
  end

  def test_memcstat_and_memcping
    with_embedded_memcached do |port, pid|
      run_tool(port, "memcping")

      assert_match(/^\tpid: #{pid}$/, run_tool(port, "memcstat"))
      assert_match(/^\tversion: 1\.6\./, run_tool(port, "memcstat"))
    end
  end

  def test_memcslap
    with_embedded_memcached do |port|
      %w[set get mget].each { |test| run_tool(port, "memcslap", "--test=#{test}", "--concurrency=4", "--execute-number=100") }
    end
  end

  # memcaslap's keys have control characters. With -v it compares each value that it gets.
  def test_memcaslap
    with_embedded_memcached do |port|
      output, status = Open3.capture2e("memcaslap", "-s", "127.0.0.1:#{port}", "-T", "1", "-c", "8", "-x", "20000", "-v", "0.5")

      assert_predicate status, :success?
      refute_match(/ERROR/, output)
      assert_match(/^get_misses: 0$/, output)
      assert_match(/^verify_failed: 0$/, output)
    end
  end

  private

  def tool(port, name, *arguments) = Open3.capture2e(name, "--servers=127.0.0.1:#{port}", *arguments)

  def run_tool(port, name, *arguments)
    output, status = tool(port, name, *arguments)

    assert_predicate status, :success?, "#{name}: #{output[0, 500]}"
    output.b
  end
end
