# A reader's answer to "Ruby's EventMachine - Part 2: Asynchronous != Faster", by Phil Pirozhkov, 30 September 2012
# (https://www.bigfastblog.com/rubys-eventmachine-part-2-asynchronous-not-equal-faster), as printed. The first two lines
# are the article's program's.
#
#     ruby -r pelton/eventmachine 000_synchrony.rb

require 'benchmark'
TEST_SIZE = 100_000

require 'em-synchrony'
require 'em-synchrony/em-memcache'
def async2
  EventMachine.synchrony do
    cache = EM::P::Memcache.connect
    TEST_SIZE.times do |n|
      cache.set "key#{n}", "value#{n}"
    end
    TEST_SIZE.times do |n|
      value = cache.get "key#{n}"
    end
    TEST_SIZE.times do |n|
      cache.delete("key#{n}")
    end
    EventMachine.stop
  end
end
puts Benchmark.measure { puts "async:"; async2 }
