# frozen_string_literal: true

# The load of the soak test, in a process of its own whose memory is watched:
#
#   ruby -Ilib test/soak/load.rb SEED "NAME ADDRESS" ... < deaths
#
# Each byte on standard input says that a server dies; the end of the input ends the load.

require "pelton/memcached"
require_relative "roamer"
require_relative "worker"

module Soak
  # The options of the clients whose answers an exact model checks.
  CLIENTS = {
    "plain" => {}, "pool" => {connections: 3}, "coded" => {serializer: Marshal, compress: 1000},
    "tight" => {max_operations: 20, max_bytes: 100_000}, "embedded" => {}
  }.freeze
  FIBERS = 4

  # Counts the bytes on standard input.
  class Deaths
    def initialize(io)
      @io = io
      @count = 0
      @over = false
    end

    def over?
      call
      @over
    end

    def call
      read = @io.read_nonblock(100, exception: false)
      @over = true if read.nil?
      @count += read.size if read.is_a?(String)
      @count
    end
  end

  # Runs the load, and prints its results.
  class Load
    def initialize(seed, addresses)
      @random = Random.new(seed)
      @deaths = Deaths.new($stdin)
      @tally = Hash.new(0)
      @memory = []
      @all = addresses
      @tallies = []
    end

    def run
      threads = CLIENTS.keys.map { |name| Thread.new { work(worker(name, "thread")) } }
      threads << Thread.new { work(roamer("thread")) }
      threads.each { |thread| thread.report_on_exception = false }
      Pelton.watchdog = nil # the load itself computes for longer than the threshold
      Pelton.run do
        Pelton.add_periodic_timer(1) { @memory << resident }
        workers = CLIENTS.keys.product((0...FIBERS).to_a).map { |name, number| worker(name, number) }
        workers.concat(Array.new(FIBERS) { |number| roamer(number) })
        workers.map { |worker| Pelton.spawn { work(worker) } }.each(&:await)
      end
      threads.each(&:join)
      puts @tallies.inject { |sum, one| sum.merge(one) { |_, a, b| a + b } }.map { |name, count| "#{name} #{count}" },
        "memory #{@memory.join(" ")}"
    end

    private

    def work(worker)
      worker.step until @deaths.over?
    rescue Exception => error # rubocop:disable Lint/RescueException
      warn error.full_message(highlight: false)
      exit!(1)
    end

    def tally = Hash.new(0).tap { |tally| @tallies << tally }

    def random = Random.new(@random.rand(2**32))

    def client(name, servers, **options)
      (@clients ||= {})[name] ||= Pelton::Memcached::Client.new(servers, timeout: 0.3, retry_after: 0.05, **options)
    end

    def worker(name, number)
      address = (name == "embedded") ? @all.fetch("embedded") : @all.fetch("memcached")
      Worker.new("#{name}-#{number}", client(name, address, failover: false, **CLIENTS.fetch(name)), @deaths, random,
        tally, coded: name == "coded")
    end

    def roamer(number) = Roamer.new("roamer-#{number}", client("several", @all.values, failover: true), random, tally)

    # In kilobytes.
    def resident = File.read("/proc/self/statm").split[1].to_i * 4
  end
end

Soak::Load.new(Integer(ARGV.shift), ARGV.to_h { |argument| argument.split(" ", 2) }).run
