# frozen_string_literal: true

require "json"
require "rbconfig"
require "tmpdir"
require "pelton/http"
require_relative "../support/fault_proxy"
require_relative "../support/guard"
require_relative "../support/servers"
require_relative "../support/sockets"
require_relative "cable_listener"

module Soak
  # Threads of several workers broadcast to connected clients, while the server between the workers is away, at the
  # start and again and again, and workers are killed. Nobody may miss a message without being told.
  class Cable
    ROOT = File.expand_path("../..", __dir__)
    WORKERS = 3
    RETURN = 3 # seconds in which a worker finds the server again
    # Broadcasts on a thread, which is not the reactor's.
    APPLICATION = <<~'RUBY'
      require "pelton/cable"
      Pelton::PubSub.keep("room", messages: 2_000)
      class RoomChannel < Pelton::Cable::Channel
        def subscribed = stream_from("room")
      end
      map("/cable") { run Pelton::Cable::Server.new(heartbeat: 1) }
      map("/publish") do
        run(lambda do |env|
          first, count = env["QUERY_STRING"].split(",").map { |text| Integer(text) }
          done = Thread.new do
            count.times do |index|
              Pelton::Cable.broadcast("room", {number: first + index})
            rescue Pelton::OverloadError
              break index
            end
          end.value
          [200, {}, ["#{Process.pid},#{done}"]]
        end)
      end
    RUBY

    # A message: when its worker was asked to broadcast it, by which process it was, and whether that refused it (4 MB
    # wait).
    Sent = Struct.new(:at, :pid, :refused)
    private_constant :Sent

    # @return [Hash{Symbol => Integer}] what has happened
    attr_reader :tally

    # @return [Array<String>] the first messages that somebody missed without being told
    attr_reader :faults

    # @param url [String] of the server between the workers, with a port that a proxy can stand before
    # @param messages [Integer]
    # @param outage [Numeric] seconds without the server, at the start and `every` so many seconds
    # @param pause [Numeric] seconds between two batches
    # @param crash [#call, nil] makes the server lose everything, instead of every third outage
    def initialize(url, messages:, outage:, every:, seed: 1, pause: 0.01, clients: 8, crash: nil)
      @url, @messages, @outage, @every, @pause, @clients, @crash = url, messages, outage, every, pause, clients, crash
      @random = Random.new(seed)
      @sent = {} # by number
      @killed = {} # when, by process
      @tally = Hash.new(0)
      @faults = []
    end

    # @return [Boolean] whether nobody missed a message without being told
    def run
      FaultProxy.start(Integer(@url[/:(\d+)/, 1])) do |proxy|
        @proxy = proxy
        proxy.down!
        serving(@url.sub(/:\d+/, ":#{proxy.port}")) { Pelton.run { exchange } }
      end
      judge
      @faults.empty?
    end

    private

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    def serving(url)
      Dir.mktmpdir do |folder|
        @folder = folder
        @port = Servers.free_port
        File.write("#{folder}/config.ru", APPLICATION)
        options = ["-w", WORKERS.to_s, "-q", "-p", @port.to_s, "--control", "control", "--pubsub", url]
        master = Process.spawn({"RUBYLIB" => "#{ROOT}/lib"}, RbConfig.ruby, "#{ROOT}/exe/pelton", "serve", *options,
          :chdir => folder, %i[out err] => "#{folder}/log")
        Guard.kill_at_end(master)
        yield
      ensure
        Process.kill(:KILL, master, *pids) && Process.wait(master) if master
        @tally[:warnings] = File.readlines("#{folder}/log").grep(/pubsub|cable/).size
      end
    end

    # Workers that are ready.
    def pids
      answer = Sockets.answer_from("#{@folder}/control", "GET /stats HTTP/1.1\r\n\r\n")
      JSON.parse(answer.split("\r\n\r\n").fetch(1)).fetch("workers").select { |worker| worker["ready"] }.map do |worker|
        worker["pid"]
      end
    rescue SystemCallError, IndexError, JSON::ParserError
      [] # it is starting
    end

    def until_true(seconds = 60)
      limit = now + seconds
      until (result = yield)
        raise "not within #{seconds} s: #{File.read("#{@folder}/log")[-2000..]}" if now > limit
        sleep 0.05
      end
      result
    end

    def exchange
      until_true { pids.size == WORKERS }
      @listeners = Array.new(@clients) do |number|
        CableListener.new("ws://127.0.0.1:#{@port}/cable", extended: number.even?)
      end
      until_true { @listeners.all?(&:since) } # while the server between the workers is away
      faults = Pelton.spawn { make_faults }
      publish_all
      faults.cancel
      @proxy.resume
      @proxy.up!
      last
    ensure
      Pelton.stop
    end

    def publish_all
      number = 0
      while number < @messages
        count = [@random.rand(1..20), @messages - number].min
        publish(number, count)
        number += count
        sleep @pause
      end
    end

    # A worker that is killed meanwhile gives no answer: some of its messages may have gone out.
    def publish(number, count)
      at = now
      response = Pelton::HTTP::Client.new("http://127.0.0.1:#{@port}", timeout: 20).get("/publish?#{number},#{count}")
      pid, taken = response.body.split(",").map { |text| Integer(text) }
      count.times { |index| @sent[number + index] = Sent.new(at, pid, index >= taken) }
    rescue Pelton::Error, ArgumentError, TypeError
      count.times { |index| @sent[number + index] = Sent.new(at, nil, false) }
    end

    # The first outage began before the workers did.
    def make_faults
      sleep @outage
      @proxy.up!
      1.step do |round|
        sleep @every
        kill_a_worker if round.odd?
        sleep 0.05
        (@crash && (round % 3).zero?) ? crash : cut(round)
      end
    end

    def kill_a_worker
      pid = pids.sample(random: @random) or return
      Process.kill(:KILL, pid)
      @killed[pid] = now
      @tally[:killed] += 1
    end

    def cut(round)
      round.even? ? @proxy.stall! : (@proxy.down! && @proxy.cut!)
      @tally[:outages] += 1
      sleep @outage
      @proxy.resume
      @proxy.up!
    end

    def crash
      @crash.call
      @tally[:crashes] += 1
    end

    # Everybody has got what came before, when they have one of these.
    def last
      number = @messages
      until_true(120) do
        publish(number += 1, 1)
        sleep 0.3
        @listeners.all? { |one| one.got.keys.last.to_i > @messages }
      end
      @listeners.each(&:stop)
    end

    # Whether it may have died with its worker, where it waited for the server between them; or the broadcast has raised
    # an error.
    def excused?(sent)
      sent.refused || sent.pid.nil? || (@killed.key?(sent.pid) && sent.at > @killed[sent.pid] - @outage - RETURN)
    end

    # What anybody got, all must get.
    def judge
      seen = @listeners.flat_map { |one| one.got.keys }.to_h { |number| [number, true] }
      required = @sent.select { |number, sent| number < @messages && (seen[number] || !excused?(sent)) }
      @tally.update(messages: @messages, required: required.size)
      %i[told connections twice].each { |name| @tally[name] = @listeners.sum(&name) }
      @listeners.each_with_index do |listener, index|
        required.each do |number, sent|
          next if listener.knows?(number, sent.at)
          @tally[:missed] += 1
          @faults << "client #{index} missed #{number}" if @faults.size < 20
        end
        @tally[:received] += listener.got.size
      end
    end
  end
end
