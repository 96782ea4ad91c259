# frozen_string_literal: true

require "pelton/lab/memcached_server"

# Blocking code waits for one answer at a time; asynchronous code pays for waiting for many. Which one is faster depends
# on the latency and on the number of operations that a program can have in flight: this experiment draws the line
# between them.
Pelton::Lab.experiment "crossover" do
  about "blocking or asynchronous? By the latency, and by the number of operations in flight"

  numbers = [1, 2, 10, 100, 1_000]
  # The size is done in chains of 1, 1/2, 1/10 ... of it, one after the other.
  trips = numbers.sum { |number| 1.0 / number }

  race "get", size: {same: 2_000}, full: 20_000, unit: "gets at each point", rounds: 3, rehearsal: 20,
    latency: [0, 0.2, 1, 10, 50] do
    about "gets by the number of operations at once and by the round trip"
    points "operations at once", numbers
    server { |processes, core, address| Pelton::Lab::MemcachedServer.start(processes, core, address) }

    # One operation after the other, however many there are to do.
    one_by_one = lambda do |run, cache|
      cache.set("key", "value")
      run.measure do
        run.point(1) { |times| times.times { run.expect("value", cache.get("key")) } }
      end
      numbers.each { |number| run.record(number, run[1]) }
    end

    baseline "libmemcached", style: "blocking", gem: "memcached", round_trips: 1 do |run|
      require "memcached"
      cache = Memcached.new(run.address, timeout: 10)
      one_by_one.call(run, cache)
    end

    # The baseline where libmemcached is not installed.
    baseline "Pelton, no reactor", style: "blocking", instead_of: "libmemcached", round_trips: 1 do |run|
      require "pelton/memcached"
      cache = Pelton::Memcached::Client.new(run.address, timeout: 10)
      one_by_one.call(run, cache)
    end

    # Chains of gets by callbacks. `finished` is called when all have ended.
    right = 0
    chains = lambda do |cache, number, times, finished|
      busy = number
      chain = lambda do |left|
        next (finished.call if (busy -= 1).zero?) if left.zero?
        cache.get("key") do |value|
          right += 1 if value == "value"
          chain.call(left - 1)
        end
      end
      number.times { chain.call(times) }
      number * times
    end

    contender "EM::P::Memcache", style: "callback", gem: "eventmachine", round_trips: trips do |run|
      require "eventmachine"
      EM.epoll
      done = 0
      run.measure do
        EM.run do
          cache = EM::P::Memcache.connect(run.host, run.port)
          Fiber.new do
            fiber = Fiber.current
            cache.set("key", "value") { fiber.resume }
            Fiber.yield
            numbers.each do |number|
              run.point(number) do |times|
                done += chains.call(cache, number, times, -> { fiber.resume })
                Fiber.yield
              end
            end
            EM.stop
          end.resume
        end
      end
      run.expect(done, right, "the number of right values")
    end

    # Yields a client, a number of operations at once, and how many times each is to be done.
    pelton = lambda do |run, &work|
      require "pelton/memcached"
      run.measure do
        Pelton.run do
          cache = Pelton::Memcached::Client.new(run.address, timeout: 10)
          cache.set("key", "value")
          numbers.each { |number| run.point(number) { |times| work.call(cache, number, times) } }
        end
      end
    end

    contender "Pelton, callbacks", style: "callback", round_trips: trips do |run|
      done = 0
      pelton.call(run) do |cache, number, times|
        all = Pelton::Operation.new
        done += chains.call(cache, number, times, -> { all.succeed })
        all.await
      end
      run.expect(done, right, "the number of right values")
    end

    contender "Pelton, fibers", style: "direct", round_trips: trips do |run|
      pelton.call(run) do |cache, number, times|
        Array.new(number) { Pelton.spawn { times.times { run.expect("value", cache.get("key")) } } }.each(&:await)
      end
    end
  end
end
