# frozen_string_literal: true

require "pelton/lab/memcached_server"
require "pelton/lab/pinning"
require "pelton/lab/processes"
require "pelton/lab/programs"
require "pelton/lab/statistics"
require "pelton/lab/web"

# What a program asks of its cache beyond single keys: many keys at once, Rails' store, other servers when one fails.
# And the embedded server next to memcached.
Pelton::Lab.experiment "cache" do
  about "many keys at once, Rails' store, a server that fails; the embedded memcached beside memcached"
  only_when_named

  memcached = ->(processes, core, address) { Pelton::Lab::MemcachedServer.start(processes, core, address) }

  race "get_multi of 1,000 keys", size: {free: 100}, unit: "calls", rehearsal: 2 do
    about "values of 100 bytes"
    server(&memcached)
    values = (0...1_000).to_h { |i| ["key-#{i}", "value #{i} ".ljust(100, "x")] }
    work = ->(run, cache) do
      run.measure do
        run.size.times { run.expect(true, cache.get_multi(values.keys) == values, "whether all values are right") }
      end
    end

    baseline "dalli", style: "blocking", gem: "dalli" do |run|
      require "dalli"
      cache = Dalli::Client.new(run.address, protocol: :meta, raw: true)
      values.each { |key, value| cache.set(key, value) }
      work.call(run, cache)
    end

    contender "Pelton", style: "direct" do |run|
      require "pelton/memcached"
      Pelton.run do
        cache = Pelton::Memcached::Client.new(run.address, timeout: 10)
        cache.set_multi(values)
        work.call(run, cache)
      end
    end

    target nil, "get_multi of 1,000 keys / dalli's", of: "Pelton", at_most: 0.25
  end

  entry = {id: 1, name: "a name", body: "text " * 40}
  names = Array.new(100) { |number| "views/posts/#{number}" }
  {"read" => [2_000, 0.6, ->(cache) { cache.read(names[7]) }, entry],
   "write" => [2_000, 0.6, ->(cache) { cache.write(names[7], entry) }, true],
   "fetch_multi of 100" => [50, 0.4, ->(cache) { cache.fetch_multi(*names) { raise "absent" }.size },
     100]}.each do |name, (times, limit, call, result)|
    race "a Rails cache: #{name}", size: {free: times}, unit: "calls", rehearsal: 2 do
      about "PeltonStore and MemCacheStore on dalli"
      server(&memcached)
      work = lambda do |run, cache|
        cache.write_multi(names.to_h { |key| [key, entry] })
        run.measure { run.size.times { run.expect(result, call.call(cache)) } }
      end

      baseline "MemCacheStore, dalli", style: "blocking", gem: "rails", with: ["dalli"] do |run|
        require "active_support/all"
        require "active_support/cache/mem_cache_store"
        work.call(run, ActiveSupport::Cache::MemCacheStore.new(run.address, protocol: :meta))
      end

      contender "PeltonStore", style: "direct", gem: "pelton-rails" do |run|
        require "active_support/all"
        require "active_support/cache/pelton_store"
        Pelton.run { work.call(run, ActiveSupport::Cache::PeltonStore.new(run.address)) }
      end

      target nil, "a Rails cache, #{name} / MemCacheStore on dalli", of: "PeltonStore", at_most: limit
    end
  end

  race "one server of five", size: {free: 1}, unit: "s", rounds: 3, rehearsal: 0.3, fixed: true do
    about "40 fibers set and get; one of five servers freezes. How long do the callers of the others wait, and its own?"
    metric :others, "others' latency / before", digits: 2
    also :longest, "its own callers' longest wait / deadline"
    deadline = 0.1

    {"others take its keys" => true, "its keys fail" => false}.each do |name, failover|
      contender name, style: "direct" do |run|
        require "pelton/memcached"
        processes = Pelton::Lab::Processes.new
        servers = Array.new(5) { memcached.call(processes, nil, nil) }
        addresses = servers.map { |server| "#{server.host}:#{server.port}" }
        ring = Pelton::Memcached::HashRing.new(addresses)
        times = Hash.new { |all, key| all[key] = [] }
        phase = :before
        ask = lambda do |cache, key|
          began_in, started = phase, Pelton::Clock.now
          begin
            cache.set(key, key)
            value = cache.get(key)
            run.expect(key, value) if value
          rescue Pelton::ConnectionError
            nil # the deadline is over, or the server is down
          end
          times[[ring.index(key) == 2, began_in]] << (Pelton::Clock.now - started) / 2 if began_in == phase
        end
        run.measure do
          Pelton.run do
            cache = Pelton::Memcached::Client.new(addresses, timeout: deadline, failover:)
            cache.set("first", "value")
            40.times do |number|
              Pelton.spawn { (0..).each { |count| ask.call(cache, "#{number}-#{count % 50}").then { sleep 0.002 } } }
            end
            sleep run.size
            Process.kill(:STOP, servers[2].pid)
            phase = :frozen
            sleep run.size
            Pelton.stop
          end
        end
        slowest = %i[frozen before].map { |phase| Pelton::Lab::Statistics.percentile(times[[false, phase]], 0.99) }
        run.record(:others, slowest[0] / slowest[1])
        run.record(:longest, times[[true, :frozen]].max.to_f * 2 / deadline)
      ensure
        processes&.stop_all
      end

      target nil, "one of five servers freezes, #{name}: the others' p99 / before", of: name, at_most: 1.0,
        unit: "times"
      target nil, "the same: its own callers' longest wait / the deadline", of: name, at_most: 1.0, metric: :longest,
        unit: "times"
    end
  end

  {"gets, queued" => [8, 100], "gets, one at a time" => [50, 1]}.each do |name, (connections, queued)|
    race "the embedded server: #{name}", size: {apart: 200_000}, unit: "gets", rehearsal: 800 do
      about "values of 100 bytes for #{connections} connections, #{queued} at a time on each; the client is " \
        "Pelton's, on the other core"
      server { Pelton::Lab::WebLoad::Program.new("the contenders", 1) }
      metric :cpu_us_per_operation, "CPU us/op"
      also :us_per_operation, "us/op"
      also :item_bytes, "an item, bytes", digits: 0
      value = "x" * 100

      serve = lambda do |run, command|
        require "pelton/memcached"
        Pelton::Lab::WebServer.serve(command) do |server|
          Pelton::Lab::Pinning.move(run.server_core)
          Pelton.run do
            caches = Array.new(connections) { Pelton::Memcached::Client.new("127.0.0.1:#{server.port}", timeout: 10) }
            caches.each { |cache| cache.set("key", value) }
            before = server.usage.rss_kb
            items = run.size / 2
            (1..items).each_slice(1_000) { |numbers| caches[0].set_multi(numbers.to_h { |n| ["item-#{n}", value] }) }
            run.record(:item_bytes, (server.usage.rss_kb - before) * 1024.0 / items)
            right = 0
            run.measure_server(server) do
              started = Pelton::Clock.now
              tasks = caches.map do |cache|
                Pelton.spawn do
                  (run.size / connections / queued).times do
                    next right += 1 if queued == 1 && cache.get("key") == value
                    Array.new(queued) { cache.later.get("key") }.each { |get| right += 1 if get.await == value }
                  end
                end
              end
              tasks.each(&:await)
              Pelton::Lab::WebLoad::Done.new(run.size, Pelton::Clock.now - started)
            end
            run.expect(run.size / connections / queued * connections * queued, right, "the number of right values")
          end
        end
      end

      baseline("memcached", style: "callback", program: "memcached") do |run|
        serve.call(run, lambda { |port, _|
          [Pelton::Lab::Programs.find("memcached"), "-l", "127.0.0.1", "-p", port.to_s, "-U", "0", "-t", "1", "-R",
            "1000", *(["-u", "nobody"] if Process.uid.zero?)]
        })
      end

      contender("pelton memcached", style: "callback") do |run|
        serve.call(run,
          ->(port, _) do
            [RbConfig.ruby, "-I", Pelton::Lab::Installation::LIBRARIES, Pelton::Lab::Installation::COMMAND, "memcached",
              "-p", port.to_s]
          end)
      end

      target nil, "embedded server, #{name}: CPU of an operation / memcached's (0.9 times its operations)",
        of: "pelton memcached", at_most: 1 / 0.9
      target nil, "the same: memory of an item / memcached's", of: "pelton memcached", at_most: 1.3, metric: :item_bytes
    end
  end
end
