# frozen_string_literal: true

# The claim: a room delivers more messages a second to 1,000 WebSockets than a loop that writes to each of them.
#
#   bundle exec ruby -Ilib benchmark/websocket_broadcast.rb [SOCKETS [ROUNDS]]
#
# The members are in one process, their peers in another, which reads all bytes. A message is broadcast when the one before has
# left. The first round of each contender is not timed: the peers compare each byte that they get. Seconds are by the clock,
# until the peers have everything; CPU time is the sender's. (With one peer that does not read, the loop stops for ever once 1 MB
# is queued for it. So that is not measured.)

require "json"
require "socket"
require "pelton/http"
require_relative "support/measuring"

SOCKETS = Integer(ARGV[0] || 1000)
ROUNDS = Integer(ARGV[1] || 7)
Process.setrlimit(:NOFILE, SOCKETS * 2 + 200, [SOCKETS * 2 + 200, Process.getrlimit(:NOFILE).last].max)

Pelton.watchdog = nil # thousands of messages are compressed at once here

SOCKET = Pelton::HTTP::WebSocket
JSON_TEXT = JSON.generate(Array.new(20) { |number| {id: number, name: "article #{number}", price: number * 3, in_stock: number.even?} }).freeze
# A message, whether it is compressed, and how many are broadcast in a round.
CASES = {"100 bytes" => ["x" * 100, false, 60], "#{JSON_TEXT.bytesize} bytes of JSON, compressed" => [JSON_TEXT, true, 10]}.freeze

SENDERS = {
  "a loop that writes" => ->(sockets) { ->(message) { sockets.each { |socket| socket.write(message) } } },
  "a room" => lambda do |sockets|
    room = SOCKET::Room.new
    sockets.each { |socket| room.add(socket) }
    room.method(:broadcast)
  end
}.freeze

def socket_on(io, deflate)
  io.autoclose = false
  stream = Pelton::Stream.for_fd(io.fileno)
  settings = SOCKET::DEFAULTS.dup
  frames = Pelton::HTTP::WebSocketFrames.new(masked: true, limit: settings.delete(:max_message), deflate: deflate)
  SOCKET.new(stream, frames, client: false, protocol: nil, deflate: deflate, **settings).begin
end

# Reads until each peer has `expected`, again and again, and says so each time.
def read_all(ios, expected, commands, answers)
  while (command = commands.gets)
    Pelton.run do
      left = ios.size
      streams = ios.map { |io| Pelton::Stream.for_fd(io.dup.tap { |one| one.autoclose = false }.fileno) }
      streams.each do |stream|
        got = 0
        Pelton.spawn do
          while got < expected.bytesize
            bytes = stream.readpartial(65_536)
            raise "other bytes came" if command == "check\n" && bytes != expected.byteslice(got, bytes.bytesize)
            got += bytes.bytesize
          end
          left -= 1
        end
      end
      answers.puts "ready"
      sleep 0.0005 until left.zero?
      answers.puts "done"
      Pelton.stop
    end
  end
end

def with_peers(expected)
  pairs = Array.new(SOCKETS) { UNIXSocket.pair }
  commands, answers = IO.pipe, IO.pipe
  pid = fork do
    pairs.each { |ours, _| ours.close }
    commands.last.close
    read_all(pairs.map(&:last), expected, commands.first, answers.last)
    exit!(0)
  end
  pairs.each { |_, theirs| theirs.close }
  commands.first.close
  yield pairs.map(&:first), commands.last, answers.first
ensure
  commands&.last&.close
  Process.wait(pid) if pid
end

# [seconds, CPU seconds] of each timed round.
def measure(sender, text, compressed, count, rounds)
  deflate = Pelton::HTTP::WebSocketDeflate.new(15, 15, 1 << 20) if compressed
  expected = Pelton::HTTP::WebSocketMessage.new(text).frame(deflate, masked: false) * count
  with_peers(expected) do |ios, commands, answers|
    times = []
    Pelton.run do
      sockets = ios.map { |io| socket_on(io, deflate) }
      send = sender.call(sockets)
      (rounds + 1).times do |round|
        commands.puts(round.zero? ? "check" : "go")
        raise "the peers failed" unless answers.gets == "ready\n"
        time = wall_and_processor_time do
          count.times do
            send.call(text)
            Pelton::Reactor.current.yield
          end
          raise "the peers failed" unless answers.gets == "done\n"
        end
        times << time unless round.zero?
      end
      Pelton.stop
    end
    times
  end
end

times = Hash.new { |all, key| all[key] = [] }
ROUNDS.times do
  CASES.each do |name, (text, compressed, count)|
    SENDERS.to_a.shuffle.each { |sender, make| times[[name, sender]].concat(in_child { measure(make, text, compressed, count, 1) }) }
  end
end

CASES.each do |name, (_, _, count)|
  puts "#{SOCKETS} sockets, #{name}"
  loop_time, loop_cpu = times[[name, SENDERS.keys.first]].transpose.map { |values| median(values) }
  SENDERS.each_key do |sender|
    time, cpu = times[[name, sender]].transpose.map { |values| median(values) }
    deliveries = SOCKETS * count
    puts format("  %-20s %9d deliveries/s (%.2f of the loop's), %6.2f us of CPU each (%.2f)", sender, deliveries / time, loop_time / time, cpu / deliveries * 1e6, cpu / loop_cpu)
  end
end
