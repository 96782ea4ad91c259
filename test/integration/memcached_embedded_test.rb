# frozen_string_literal: true

require_relative "../test_helper"
require "open3"

# The tests of Pelton's client, with the embedded memcached instead of memcached.
class MemcachedEmbeddedTest < PeltonTest
  self.deadline = 180

  %w[client servers fetch update].each do |name|
    define_method(:"test_#{name}") do
      file = File.join(ROOT, "test/memcached/#{name}_test.rb")
      output, status = Open3.capture2e({"PELTON_MEMCACHED" => "embedded", "MT_NO_PLUGINS" => "1"}, RbConfig.ruby,
        "-I#{LIB}", "-I#{File.join(ROOT, "test")}", file)

      assert_predicate status, :success?, output
      assert_match(/^[1-9]\d* runs, [1-9]\d* assertions, 0 failures, 0 errors, 0 skips$/, output)
    end
  end
end
