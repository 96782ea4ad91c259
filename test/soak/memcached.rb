# frozen_string_literal: true

require "rbconfig"
require_relative "../support/fault_proxy"
require_relative "../support/guard"
require_relative "../support/memcached_process"
require_relative "../support/servers"
require_relative "trouble"

# Random operations in all styles, by clients of all kinds, while connections are cut, delayed, stalled and forgotten,
# and servers freeze and die. Each answer is compared with a model's, and the memory is watched.
module Soak
  ROOT = File.expand_path("../..", __dir__)

  # Two memcacheds and the embedded server, each behind a proxy.
  class Memcached
    # @return [Hash{String => Integer}] the numbers of right answers and of errors; the numbers of troubles
    attr_reader :answers, :troubles

    # @return [Array<Integer>] kilobytes, each second
    attr_reader :memory

    def initialize(seconds, seed)
      @seconds = seconds
      @seed = seed
    end

    # @return [Boolean] whether all answers were right
    def run
      embedded = [RbConfig.ruby, "-I#{ROOT}/lib", "#{ROOT}/exe/pelton", "memcached", "-m", "512"]
      real = ["memcached", "-m", "512", "-c", "4096", "-t", "2", *(%w[-u nobody] if Process.uid.zero?)]
      servers = [real, real, embedded].map { |command| MemcachedProcess.new(*command) }
      proxies = servers.map { |server| FaultProxy.start(server.port) }
      load(servers, proxies)
    ensure
      proxies&.each(&:stop)
      servers&.each(&:kill)
    end

    # Compares the last third of the time with the first, after a warm-up of a fifth of the time.
    def growth
      steady = memory.drop(memory.size / 5)
      first, *, last = steady.each_slice([steady.size / 3, 1].max).first(3).map { |part| part.sum / part.size }
      Float(last || first) / first
    end

    private

    def load(servers, proxies)
      addresses = %w[memcached other embedded].zip(proxies).map { |name, proxy| "#{name} 127.0.0.1:#{proxy.port}" }
      IO.popen([RbConfig.ruby, "-I#{ROOT}/lib", File.join(__dir__, "load.rb"), @seed.to_s, *addresses], "r+") do |child|
        Guard.kill_at_end(child.pid)
        trouble = Trouble.new(servers, proxies, child, Random.new(@seed))
        finish = now + @seconds
        trouble.make while now < finish && child.wait_readable(0).nil?
        child.close_write
        read(child.readlines(chomp: true), trouble.tally)
      end
      $?.success?
    rescue Errno::EPIPE
      false # the load has ended, and has printed the reason
    end

    def read(lines, troubles)
      counts = lines.map { |line| line.split(" ", 2) }.to_h
      @troubles = troubles
      @memory = counts.delete("memory").to_s.split.map(&:to_i)
      @answers = counts.transform_values(&:to_i)
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
