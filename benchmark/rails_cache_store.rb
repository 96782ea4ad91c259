# frozen_string_literal: true

# ActiveSupport's cache on Pelton's memcached client (PeltonStore, of the gem pelton-rails) and on dalli (Rails' MemCacheStore): the wall-clock and
# CPU time of reads, writes and fetches of 100 entries at once, one after the other in one fiber, against the same memcached, in interleaved rounds.
#
#     bundle exec ruby -Ilib benchmark/rails_cache_store.rb [rounds]

$LOAD_PATH.unshift(File.expand_path("../pelton-rails/lib", __dir__))
require "active_support/all"
require "active_support/cache/mem_cache_store"
require "active_support/cache/pelton_store"
require "socket"
require_relative "support/measuring"

ROUNDS = Integer(ARGV.fetch(0, 15))
ENTRY = {id: 1, name: "a name", body: "text " * 40}.freeze
NAMES = Array.new(100) { |number| "views/posts/#{number}" }

port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
memcached = spawn("memcached", "-l", "127.0.0.1", "-p", port.to_s, "-U", "0", *(["-u", "nobody"] if Process.uid.zero?))
at_exit { Process.kill("TERM", memcached) }
begin
  TCPSocket.new("127.0.0.1", port).close
rescue Errno::ECONNREFUSED
  sleep 0.01
  retry
end

WORK = {
  "read" => [2000, ->(cache) { cache.read("views/posts/7") }, ENTRY],
  "write" => [2000, ->(cache) { cache.write("views/posts/7", ENTRY) }, true],
  "fetch_multi of 100" => [50, ->(cache) { cache.fetch_multi(*NAMES) { raise "absent" }.size }, 100]
}.freeze

stores = {
  "MemCacheStore" => [ActiveSupport::Cache::MemCacheStore.new("127.0.0.1:#{port}", protocol: :meta), ->(&block) { block.call }],
  "PeltonStore" => [ActiveSupport::Cache::PeltonStore.new("127.0.0.1:#{port}"), ->(&block) { Pelton.run(&block) }]
}
WORK.each do |name, (times, call, result)|
  measured = stores.keys.to_h { |store| [store, []] }
  (ROUNDS + 1).times do |round|
    stores.each do |store, (cache, around)|
      cache.write_multi(NAMES.to_h { |key| [key, ENTRY] })
      around.call do
        raise "#{store} #{name}: #{call.call(cache).inspect}" unless call.call(cache) == result
        times_of_round = wall_and_processor_time { times.times { call.call(cache) } }
        measured[store] << times_of_round.map { |seconds| seconds / times * 1e6 } unless round.zero? # the first warms up
      end
    end
  end
  wall, processor = 2.times.map { |column| stores.keys.map { |store| measured[store].map { |pair| pair[column] } } }
  ratio = ->((theirs, ours)) { median(theirs.zip(ours).map { |one, other| other / one }) }
  puts format("%-20s MemCacheStore %8.1f us, PeltonStore %8.1f us: %.2f; CPU %.1f, %.1f us: %.2f", name, median(wall[0]), median(wall[1]), ratio.call(wall),
    median(processor[0]), median(processor[1]), ratio.call(processor))
end
