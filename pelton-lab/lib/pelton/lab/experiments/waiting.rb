# frozen_string_literal: true

require "socket"

# The cost of waiting for a program that does nothing else: the memory of a waiting fiber, the time to park and be
# woken, timers.
Pelton::Lab.experiment "waiting" do
  about "the cost of waiting: the memory of a parked fiber, a wake-up, timers"

  race "a parked fiber", size: {free: 10_000}, unit: "fibers" do
    about "the memory of a fiber that waits"
    metric :kb, "KB each", digits: 1

    # Records the memory of each fiber that `start` starts. It gets a Proc, which each fiber calls before it waits.
    weigh = lambda do |run, &start|
      parked = 0
      before = run.rss_kb
      run.size.times { |n| start.call(-> { parked += 1 }, n) }
      50.times do # a busy machine takes longer
        sleep 0.2
        break if parked == run.size
      end
      run.expect(run.size, parked, "the number of parked fibers")
      run.record(:kb, (run.rss_kb - before) / run.size.to_f)
    end

    contender "Pelton, sleep", style: "direct" do |run|
      require "pelton"
      run.measure do
        Pelton.run do
          weigh.call(run) { |parking, _| Pelton.spawn { parking.call.then { sleep 3600 } } }
          Pelton.stop
        end
      end
    end

    contender "Pelton, cache.get", style: "direct" do |run|
      require "pelton/memcached"
      silent = TCPServer.new("127.0.0.1", 0) # accepts connections and answers nothing
      run.measure do
        Pelton.run do
          cache = Pelton::Memcached::Client.new("127.0.0.1:#{silent.addr[1]}", timeout: 60)
          weigh.call(run) { |parking, n| Pelton.spawn { parking.call.then { cache.get("key#{n}") } } }
          Pelton.stop
        end
      end
    end

    target 23, "memory of a fiber parked in sleep", of: "Pelton, sleep", at_most: 18, unit: "KB", digits: 1
    target 23, "memory of a fiber parked in cache.get", of: "Pelton, cache.get", at_most: 18, unit: "KB", digits: 1
  end

  # Two fibers that wake each other in turn: an operation is one wait and one wake-up.
  race "wait and wake", size: {free: 100_000}, unit: "wakes" do
    about "two fibers that wake each other in turn"
    metric :cpu_us_per_operation, "us"

    # The block starts a player; the method waits for it.
    play = lambda do |run, await, &spawn|
      ping, pong = Queue.new, Queue.new
      players = [[ping, pong], [pong, ping]].map do |mine, other|
        spawn.call do
          (run.size / 2).times do
            mine.pop
            other.push(true)
          end
        end
      end
      ping.push(true)
      players.each(&await)
      run.expect(1, ping.size + pong.size, "the number of balls")
    end

    contender "Pelton, Queue", style: "direct" do |run|
      require "pelton"
      run.measure { Pelton.run { play.call(run, :await) { |&player| Pelton.spawn(&player) } } }
    end

    target 23, "to wait and be woken, by a Queue", of: "Pelton, Queue", at_most: 0.3, unit: "us"
  end

  # In passes, the first of which is not measured: the first timers of a program pay for the memory that Ruby maps for
  # any object. In while loops, because in a loop by `times` Ruby keeps a frame of each iteration for the timer's block.
  race "a timer", size: {free: 500_000}, unit: "timers" do
    about "timers that are added and cancelled, and timers that fire"
    metric :cpu_us_per_operation, "us each"

    passes = 10

    cancel = lambda do |run, reactor, cancel_all|
      pass = lambda do
        timers = []
        timers << reactor.add_timer(60) { raise "it was cancelled" } while timers.size < run.size / passes
        cancel_all.call(timers)
      end
      reactor.run do
        pass.call
        run.measure { passes.times { pass.call } }
        reactor.stop
      end
    end

    fire = lambda do |run, reactor, _|
      fired = 0
      pass = lambda do |wanted, &done|
        added = fired
        while added < wanted
          reactor.add_timer(0.001) { done.call if (fired += 1) == wanted }
          added += 1
        end
      end
      each_pass =
        ->(left) { pass.call(fired + run.size / passes) { (left > 1) ? each_pass.call(left - 1) : reactor.stop } }
      reactor.run { each_pass.call(1) }
      run.measure { reactor.run { each_pass.call(passes) } }
      run.expect(run.size + run.size / passes, fired, "the number of timers that fired")
    end

    {"add and cancel" => cancel, "add and fire" => fire}.each do |what, work|
      contender "EventMachine, #{what}", style: "callback", gem: "eventmachine", at_most: 100_000 do |run|
        require "eventmachine"
        EM.epoll
        EM.set_max_timers(run.size * 2) # it keeps cancelled timers until they are due
        work.call(run, EM, ->(timers) { timers.each { |timer| EM.cancel_timer(timer) } })
      end

      contender "Pelton, #{what}", style: "callback" do |run|
        require "pelton"
        work.call(run, Pelton, ->(timers) { timers.each(&:cancel) })
      end
    end

    # 3,100 instructions with the collector's, like Object.new of a class that keeps its block.
    target 23, "a timer with its block: add and cancel", of: "Pelton, add and cancel", at_most: 0.3, unit: "us"
    target 23, "a timer with its block: add and fire", of: "Pelton, add and fire", at_most: 0.3, unit: "us"
  end
end
