# frozen_string_literal: true

require "monitor"
require "pelton"
require "rbconfig"
require "socket"
require "stringio"
require "timeout"

# A program for a process of its own: gives up each kind of wait, in each kind of fiber, with code that leaves the wait
# or does not want to. Prints what went wrong, and "done" at its end.
class GivenUpWaits
  # What a fiber does when it is cancelled.
  STYLES = {
    "waits in ensure" => ->(wait, ended) {
      begin
        wait.call
      ensure
        begin
          wait.call
        ensure
          ended << true
        end
      end
    },
    "retries" => ->(wait, ended) {
      begin
        wait.call
      rescue Pelton::Cancelled
        retry
      ensure
        ended << true
      end
    },
    "retries after an ensure" => ->(wait, ended) {
      begin
        begin
          wait.call
        ensure
          Thread.pass
        end
      rescue Exception # standard:disable Lint/RescueException
        retry
      ensure
        ended << true
      end
    },
    "never leaves" => ->(wait, _) {
      loop do
        wait.call
      ensure
        next
      end
    }
  }.freeze

  def initialize(style)
    @style = STYLES.fetch(style)
    @threads = []
    @children = []
    @ios = []
  end

  def call(where)
    waits.each_key { |name| (where == "main") ? check(name) : Thread.new { check(name) }.join }
    collect
    release
    puts "done"
  end

  private

  # Each wait lasts for ever. It is made inside the run that it waits in.
  def waits
    @waits ||= {
      "Thread#join" => -> { thread = stopped_thread and -> { thread.join } },
      "Thread#value" => -> { thread = stopped_thread and -> { thread.value } },
      "Queue" => -> { (@queue = Queue.new) and -> { @queue.pop } },
      "SizedQueue" => -> { (@sized = SizedQueue.new(1)) << 1 and -> { @sized << 2 } },
      "Mutex" => -> { (@mutex = Mutex.new).lock and -> { @mutex.lock } },
      "a Mutex of another thread" => -> { lock_elsewhere(@foreign = Mutex.new) and -> { @foreign.synchronize {} } },
      "Mutex#sleep" => -> { -> { (lock = Mutex.new).synchronize { lock.sleep } } },
      "ConditionVariable" => -> do
        (@condition = ConditionVariable.new) and -> { (lock = Mutex.new).synchronize { @condition.wait(lock) } }
      end,
      "Monitor" => -> { (@monitor = Monitor.new).enter || -> { @monitor.synchronize {} } },
      "a condition of a Monitor" => -> do
        -> { (lock = Monitor.new).synchronize { (@of_monitor = lock.new_cond).wait } }
      end,
      "Process.wait" => -> { child = child_process and -> { Process.wait(child) } },
      "Process::Status.wait" => -> { child = child_process and -> { Process::Status.wait(child) } },
      "Process.wait for any of a group" => -> { child_process and -> { Process.wait(-Process.getpgrp) } },
      "IO#read" => -> { (reader = pipe.first) and -> { reader.read(1) } },
      "IO#write" => -> { (writer = pipe.last) and -> { writer.write("x" * 1_000_000) } },
      "IO#wait_readable" => -> { (reader = pipe.first) and -> { reader.wait_readable } },
      "accept" => -> { (server = TCPServer.new("127.0.0.1", 0).tap { |io| @ios << io }) and -> { server.accept } },
      "Pelton.select" => -> { (reader = pipe.first) and -> { Pelton.select([reader]) } },
      "sleep" => -> { -> { sleep } },
      "sleep for a time" => -> { -> { sleep 1000 } },
      "Timeout" => -> { -> { Timeout.timeout(1000) { sleep } } },
      "Pelton.timeout" => -> { -> { Pelton.timeout(1000) { Queue.new.pop } } },
      "Operation" => -> { -> { Pelton::Operation.new.await } },
      "Semaphore" => -> { (semaphore = Pelton::Semaphore.new(1)).tap(&:acquire) and -> { semaphore.acquire } },
      "offload" => -> { -> { Pelton.offload { Thread.stop } } },
      "Enumerator" => -> { -> { Enumerator.new { |_| Pelton::Operation.new.await }.next } }
    }.merge((RUBY_VERSION >= "3.2") ? {"IO.select" => -> { (reader = pipe.first) and -> { IO.select([reader]) } }} : {})
  end

  def check(name)
    @ended = []
    Pelton.logger = @log = StringIO.new
    begun = 0
    act = ->(wait) { (begun += 1) && @style.call(wait, @ended) }
    Pelton.run(grace: 0.005) do
      make = waits.fetch(name)
      Pelton.spawn do # holds what the others wait for
        wait = make.call
        Pelton.spawn(name: "task") { act.call(wait) }
        Pelton.next_tick { act.call(wait) }
        Fiber.schedule { act.call(wait) }
        Pelton.spawn { Fiber.new { act.call(wait) }.resume }
        sleep
      end
      sleep 0.0001 until begun == 4 || !@log.string.empty?
      sleep 0.001
      Pelton.stop
    end
    report(name)
  end

  def report(name)
    puts "#{name}: #{Pelton.stats[:parked]} parked" unless Pelton.stats[:parked] == 0
    puts "#{name}: #{@ended.size} of 4 ended" unless (least(name)..4).cover?(@ended.size)
    unless @log.string.match?(/4 fiber.* were ended:$.* from #{__FILE__}:\d+ at /mo)
      puts "#{name}: the log says #{@log.string}"
    end
    again = Pelton.run { sleep(0.0001) && 1 }
    puts "#{name}: the next run returned #{again.inspect}" unless again == 1
  end

  # Before 3.3 Ruby cannot end a fiber that the program has made, and that goes on behind an `ensure`; nor later one
  # whose `ensure` waits, as that of the hook process_wait does.
  def least(name)
    return 0 if @style == STYLES["never leaves"]
    if @style == STYLES["waits in ensure"] || (RUBY_VERSION >= "3.3" && name != "Process.wait for any of a group")
      return 4
    end
    (name == "Enumerator") ? 0 : 3
  end

  # Frees the stacks of ended fibers, and uses their memory again.
  def collect
    3.times { GC.start }
    Array.new(50) { Fiber.new { Fiber.yield("x" * 100) } }.each(&:resume).clear
    GC.start
  end

  # What Ruby lists on the stacks of fibers that wait it uses now.
  def release
    @threads.each { |thread| thread.wakeup if thread.alive? }.each do |thread|
      thread.join(5) or puts("a thread does not end")
    end
    @queue << 1
    @sized.clear << 1
    @condition.broadcast
    Thread.new { [@mutex, @foreign].each { |mutex| mutex.try_lock && mutex.unlock } }.join
    @children.each do |child|
      Process.kill(:KILL, child) && Process.wait(child)
    rescue SystemCallError # a thread that was killed has waited for it
      next
    end
    @ios.each(&:close)
  end

  def stopped_thread = Thread.new { Thread.stop }.tap { |thread| @threads << thread }

  def lock_elsewhere(mutex)
    @threads << Thread.new { mutex.synchronize { Thread.stop } }
    Thread.pass until mutex.locked?
    mutex
  end

  def child_process = Process.spawn(RbConfig.ruby, "--disable=gems", "-e", "sleep").tap { |child| @children << child }

  def pipe = IO.pipe.each { |io| @ios << io }
end
