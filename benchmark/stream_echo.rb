# frozen_string_literal: true

# The claim: in callback style an echo costs less than EventMachine's.
#
#   ruby -Ilib benchmark/stream_echo.rb [ECHOES [ROUNDS]]
#
# 64 connections over loopback, both ends in one process: a client sends 32 bytes, the server sends them back, and so
# on. Each contender is a process of its own, and the contenders alternate. Every answer is checked. Ratios are of medians, to
# EventMachine.

require "socket"
require_relative "support/measuring"

ECHOES = Integer(ARGV[0] || 100_000)
ROUNDS = Integer(ARGV[1] || 7)
CONNECTIONS = 64
MESSAGE = ("x" * 32).freeze

# Counts answers; calls the block when all have arrived.
class Tally
  attr_reader :count

  def initialize(&done)
    @count = 0
    @done = done
  end

  # Returns whether the client goes on.
  def answered(bytes)
    raise "#{bytes.inspect} came back" unless bytes == MESSAGE
    @count += 1
    @done.call if @count == ECHOES
    @count <= ECHOES - CONNECTIONS
  end
end

CONTENDERS = {
  "EventMachine, receive_data" => lambda do
    require "eventmachine"
    EM.epoll
    tally = Tally.new { EM.stop }
    server = Module.new { define_method(:receive_data) { |bytes| send_data(bytes) } }
    client = Module.new do
      define_method(:post_init) { send_data(MESSAGE) }
      define_method(:receive_data) { |bytes| send_data(MESSAGE) if tally.answered(bytes) }
    end
    lambda do
      EM.run do
        port = Socket.unpack_sockaddr_in(EM.get_sockname(EM.start_server("127.0.0.1", 0, server))).first
        CONNECTIONS.times { EM.connect("127.0.0.1", port, client) }
      end
      tally.count
    end
  end,
  "Pelton, on_data" => lambda do
    require "pelton"
    tally = Tally.new { Pelton.stop }
    lambda do
      Pelton.run do
        listener = Pelton.listen("127.0.0.1", 0) { |stream| stream.on_data { |bytes| stream.write(bytes) } }
        CONNECTIONS.times do
          stream = Pelton.connect("127.0.0.1", listener.port)
          stream.on_data { |bytes| stream.write(MESSAGE) if tally.answered(bytes) }
          stream.write(MESSAGE)
        end
      end
      tally.count
    end
  end,
  "Pelton, a fiber each" => lambda do
    require "pelton"
    tally = Tally.new { Pelton.stop }
    lambda do
      Pelton.run do
        listener = Pelton.listen("127.0.0.1", 0) { |stream| loop { stream.write(stream.readpartial(1024)) } }
        CONNECTIONS.times do
          stream = Pelton.connect("127.0.0.1", listener.port)
          Pelton.spawn do
            stream.write(MESSAGE)
            stream.write(MESSAGE) while tally.answered(stream.readpartial(1024))
          end
        end
      end
      tally.count
    end
  end
}.freeze

def measure(contender)
  program = contender.call
  wall_and_processor_time do
    count = program.call
    raise "#{count} answers of #{ECHOES}" unless count == ECHOES
  end
end

times = CONTENDERS.transform_values { [] }
ROUNDS.times do
  CONTENDERS.to_a.shuffle.each { |name, contender| times[name] << in_child { measure(contender) } }
end

medians = times.transform_values { |rounds| rounds.transpose.map { |values| median(values) } }
base = medians.values.first
puts format("%-34s %8s %8s %8s %8s", "#{ECHOES} echoes, medians of #{ROUNDS}", "wall s", "ratio", "CPU us", "ratio")
medians.each do |name, (wall, cpu)|
  puts format("%-34s %8.3f %8.2f %8.2f %8.2f", name, wall, wall / base[0], cpu / ECHOES * 1e6, cpu / base[1])
end
