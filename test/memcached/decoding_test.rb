# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../shared/memcached_coding"
require_relative "../shared/memcached_styles"

# A call that waits for its reply.
class MemcachedDirectDecodingTest < PeltonTest
  # Each would cost as much as the rest of the call.
  def test_it_makes_no_operation
    cache = Pelton::Memcached::Client.new("127.0.0.1:#{with_memcached}", serializer: Marshal)
    cache.set("a", [1])
    before = operations

    assert_equal [[1]] * 20, Array.new(20) { cache.get("a") }
    assert_equal before, operations
  ensure
    GC.enable
  end

  private

  # From the first call on none is collected.
  def operations
    GC.start unless GC.disable
    ObjectSpace.each_object(Pelton::Operation).count
  end
end

# Each style with values that are not plain Strings.
PeltonTest.in_styles("MemcachedDecoding", MemcachedStyles::ALL, MemcachedCoding)
