# frozen_string_literal: true

require_relative "test_helper"

class ReadmeTest < PeltonTest
  def test_its_example_runs
    example = File.read(File.join(ROOT, "README.md"), encoding: "UTF-8")[/^```ruby\n(.*?)^```/m, 1]
    output = with_memcached { |port| ruby_output(example.gsub("127.0.0.1:11211", "127.0.0.1:#{port}")) }

    assert_equal "hello\nhello\n", output
  end
end
