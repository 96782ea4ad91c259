# frozen_string_literal: true

require "pelton/lab/memcached_server"

# "Asynchronous != Faster" (2012) set, got and deleted 100,000 keys of a memcached on the same machine: 17.3 s with
# blocking calls,
# 33.2 s with EventMachine, of which 32.2 s were user CPU time.
Pelton::Lab.experiment "memcached" do
  about "SET, GET and DEL of many keys: blocking calls against callbacks, Deferrables and fibers"

  # The work, one operation after the other.
  one_by_one = lambda do |run, cache, numbers = 1.upto(run.size)|
    numbers.each { |n| cache.set("key#{n}", "value#{n}") }
    numbers.each { |n| run.expect("value#{n}", cache.get("key#{n}")) }
    numbers.each { |n| cache.delete("key#{n}") }
  end

  # The work, all of it at once.
  all_by_eventmachine = lambda do |run|
    require "eventmachine"
    EM.epoll
    right = 0
    run.measure(3 * run.size) do
      EM.run do
        cache = EM::P::Memcache.connect(run.host, run.port)
        1.upto(run.size) { |n| cache.set("key#{n}", "value#{n}") { right += 1 } }
        1.upto(run.size) { |n| cache.get("key#{n}") { |value| right += 1 if value == "value#{n}" } }
        1.upto(run.size) do |n|
          cache.delete("key#{n}") do
            right += 1
            EM.stop if n == run.size
          end
        end
      end
    end
    run.expect(3 * run.size, right, "the number of right answers")
  end

  all_by_pelton = lambda do |run|
    require "pelton/memcached"
    right = 0
    run.measure(3 * run.size) do
      Pelton.run do
        cache = Pelton::Memcached::Client.new(run.address, timeout: 10)
        1.upto(run.size) { |n| cache.set("key#{n}", "value#{n}") { right += 1 } }
        1.upto(run.size) { |n| cache.get("key#{n}") { |value| right += 1 if value == "value#{n}" } }
        1.upto(run.size) { |n| cache.delete("key#{n}") { right += 1 } }
      end
    end
    run.expect(3 * run.size, right, "the number of right answers")
  end

  # The same work in every style.
  clients = lambda do |race|
    race.server { |processes, core, address| Pelton::Lab::MemcachedServer.start(processes, core, address) }
    race.counts { |keys| {cmd_set: keys, get_hits: keys, get_misses: 0, delete_hits: keys, delete_misses: 0} }

    race.baseline "libmemcached", style: "blocking", gem: "memcached", at_most: 2_000 do |run|
      require "memcached"
      cache = Memcached.new(run.address, timeout: 10)
      run.measure(3 * run.size) { one_by_one.call(run, cache) }
    end

    race.contender "dalli", style: "blocking", gem: "dalli", at_most: 1_000 do |run|
      require "dalli"
      cache = Dalli::Client.new(run.address, protocol: :meta, raw: true, socket_timeout: 10)
      run.measure(3 * run.size) { one_by_one.call(run, cache) }
    end

    race.contender("EM::P::Memcache, all at once", style: "callback", gem: "eventmachine",
      at_most: 10_000, &all_by_eventmachine)

    race.contender "em-synchrony, 100 fibers", style: "direct", gem: "em-synchrony", at_most: 5_000 do |run|
      require "em-synchrony"
      require "em-synchrony/em-memcache"
      EM.epoll
      run.measure(3 * run.size) do
        EM.synchrony do
          cache = EM::P::Memcache.connect(run.host, run.port)
          left = 100
          1.upto(100) do |first|
            Fiber.new do
              one_by_one.call(run, cache, first.step(run.size, 100))
              EM.stop if (left -= 1).zero?
            end.resume
          end
        end
      end
    end

    race.contender("Pelton, a block each", style: "callback", &all_by_pelton)

    race.contender "Pelton, 100 fibers", style: "direct", at_most: 20_000 do |run|
      require "pelton/memcached"
      run.measure(3 * run.size) do
        Pelton.run do
          cache = Pelton::Memcached::Client.new(run.address, timeout: 10)
          Array.new(100) { |i| Pelton.spawn { one_by_one.call(run, cache, (i + 1).step(run.size, 100)) } }.each(&:await)
        end
      end
    end

    race.contender "Pelton, one fiber", style: "direct", at_most: 2_000 do |run|
      require "pelton/memcached"
      run.measure(3 * run.size) do
        Pelton.run { one_by_one.call(run, Pelton::Memcached::Client.new(run.address, timeout: 10)) }
      end
    end

    # The baseline where libmemcached is not installed.
    race.baseline "Pelton, no reactor", style: "blocking", at_most: 1_000 do |run|
      require "pelton/memcached"
      cache = Pelton::Memcached::Client.new(run.address, timeout: 10)
      run.measure(3 * run.size) { one_by_one.call(run, cache) }
    end
  end

  race "set, get, delete", size: {same: 20_000, apart: 100_000}, full: 100_000, unit: "keys" do
    about "all keys are set, read and deleted"
    past '"Asynchronous != Faster"', source: "2012, 100,000 keys", size: 100_000, pin: :apart do
      row "memcached gem", style: "blocking", user: 4.17, system: 4.36, real: 17.299242
      row "EventMachine", style: "callback", user: 32.15, system: 0.99, real: 33.246160
    end
    clients.call(self)

    # Most of an operation's 1.9 us on one core is Ruby's block.
    target 1, "set, get, delete with a block each / libmemcached, one core", of: "Pelton, a block each", at_most: 0.08,
      pin: :same
    target 2, "the same, two cores", of: "Pelton, a block each", at_most: 0.025, pin: :apart, digits: 3
    # A reply takes three system calls (send, epoll, read), since other fibers may be ready; a blocking client makes
    # two.
    target 4, "one fiber, one operation at a time / libmemcached, one core", of: "Pelton, one fiber", at_most: 1.00,
      pin: :same
    target 5, "the same, two cores", of: "Pelton, one fiber", at_most: 0.65, pin: :apart
    target 6, "100 fibers on one connection / one libmemcached, one core", of: "Pelton, 100 fibers", at_most: 0.22,
      pin: :same
  end

  # The server is stopped while the program sends its commands, so that nothing is answered before everything is queued.
  race "everything queued", size: {free: 100_000}, unit: "keys", rounds: 3 do
    about "the memory of all operations in flight at once, before the first answer"
    server { |processes, core, address| Pelton::Lab::MemcachedServer.start(processes, core, address, stalls: true) }
    disturb { |server, keys| server.stall(keys / 100_000.0) }
    metric :rss_mb, "RSS MB", digits: 0

    contender("EM::P::Memcache", style: "callback", gem: "eventmachine", extra: true, &all_by_eventmachine)

    contender("Pelton", style: "callback", &all_by_pelton)

    target 3, "peak memory with 300,000 operations queued, a block each", of: "Pelton", at_most: 100, unit: "MB",
      digits: 0
  end

  # The purpose of asynchronous code: the server stops for a while, and the program must go on. A timer of 10 ms
  # measures it.
  race "the server stops", size: {free: 1}, unit: "second", rounds: 3, rehearsal: 0.1, fixed: true do
    about "the server stops for a second: how late does a timer of 10 ms come in a program that uses it?"
    server { |processes, core, address| Pelton::Lab::MemcachedServer.start(processes, core, address, stalls: true) }
    disturb do |server, seconds|
      sleep 0.1
      server.stall(seconds)
    end
    metric :gap_ms, "longest gap, ms", digits: 1

    # Records the longest gap between two calls of a timer.
    gap = lambda do |run|
      last = longest = nil
      run.record(:gap_ms, 0)
      lambda do
        now = Pelton::Clock.now
        longest = [now - last, longest || 0].max if last
        last = now
        run.record(:gap_ms, longest * 1000) if longest
      end
    end

    contender "libmemcached in EventMachine", style: "blocking", gem: "memcached" do |run|
      require "memcached"
      require "eventmachine"
      tick = gap.call(run)
      cache = Memcached.new(run.address, timeout: 10)
      run.measure do
        EM.run do
          EM.add_periodic_timer(0.01) { tick.call }
          EM.add_timer(run.size + 0.3) { EM.stop }
          work = lambda do
            cache.set("k", "v")
            run.expect("v", cache.get("k"))
            EM.next_tick(&work)
          end
          work.call
        end
      end
    end

    contender "EM::P::Memcache", style: "callback", gem: "eventmachine" do |run|
      require "eventmachine"
      EM.epoll
      tick = gap.call(run)
      run.measure do
        EM.run do
          EM.add_periodic_timer(0.01) { tick.call }
          EM.add_timer(run.size + 0.3) { EM.stop }
          cache = EM::P::Memcache.connect(run.host, run.port)
          work = lambda do
            cache.set("k", "v") do
              cache.get("k") do |value|
                run.expect("v", value)
                work.call
              end
            end
          end
          work.call
        end
      end
    end

    contender "Pelton, one fiber", style: "direct" do |run|
      require "pelton/memcached"
      tick = gap.call(run)
      run.measure do
        Pelton.run do
          Pelton.add_periodic_timer(0.01) { tick.call }
          Pelton.add_timer(run.size + 0.3) { Pelton.stop }
          cache = Pelton::Memcached::Client.new(run.address, timeout: 10)
          loop do
            cache.set("k", "v")
            run.expect("v", cache.get("k"))
          end
        end
      end
    end

    target 10, "longest gap of a 10 ms timer, memcached stopped for 1 s", of: "Pelton, one fiber", at_most: 13,
      unit: "ms", digits: 1
  end
end
