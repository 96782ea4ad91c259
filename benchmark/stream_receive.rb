# frozen_string_literal: true

# The claim: receiving in bulk through Pelton costs as much as blocking reads when a buffer is reused, and not much more when
# each piece is a fresh string.
#
#   bundle exec ruby -Ilib benchmark/stream_receive.rb [MEGABYTES [ROUNDS]]
#
# A sender process sends over loopback; each receiver is a process of its own on another core, and the receivers alternate. The
# digest of the received bytes is checked first, the number of bytes each time. Ratios are of medians, to blocking readpartial.

require "digest"
require "pelton"
require "pelton/lab/pattern"
require "pelton/lab/pinning"
require_relative "support/measuring"

MEGABYTES = Integer(ARGV[0] || 256)
ROUNDS = Integer(ARGV[1] || 7)
PIECE = 65_536

RECEIVERS = {
  "Ruby, readpartial, buffer reused" => lambda do |port, size, received|
    socket = TCPSocket.new("127.0.0.1", port)
    socket.write("#{size}\n")
    buffer = String.new(capacity: PIECE)
    begin
      loop { received.call(socket.readpartial(PIECE, buffer)) }
    rescue EOFError
      socket.close
    end
  end,
  "Pelton, readpartial, buffer reused" => lambda do |port, size, received|
    Pelton.run do
      stream = Pelton.connect("127.0.0.1", port)
      stream.write("#{size}\n")
      buffer = String.new(capacity: PIECE)
      begin
        loop { received.call(stream.readpartial(PIECE, buffer)) }
      rescue EOFError
        stream.close
      end
    end
  end,
  "Pelton, readpartial, a string each" => lambda do |port, size, received|
    Pelton.run do
      stream = Pelton.connect("127.0.0.1", port)
      stream.write("#{size}\n")
      begin
        loop { received.call(stream.readpartial(PIECE)) }
      rescue EOFError
        stream.close
      end
    end
  end,
  "Pelton, on_data, a string each" => lambda do |port, size, received|
    Pelton.run do
      stream = Pelton.connect("127.0.0.1", port)
      stream.on_data(&received)
      stream.write("#{size}\n")
    end
  end,
  "Pelton, on_data, buffer reused" => lambda do |port, size, received|
    Pelton.run do
      stream = Pelton.connect("127.0.0.1", port)
      stream.on_data(String.new(capacity: PIECE), &received)
      stream.write("#{size}\n")
    end
  end
}.freeze

def serve(listener)
  loop do
    socket = listener.accept
    Pelton::Lab::Pattern.each_block(socket.gets.to_i) { |block| socket.write(block) }
    socket.close
  end
end

SENDERS_CORE, RECEIVERS_CORE = Pelton::Lab::Pinning.cores(Pelton::Lab::Pinning.unavailable(:apart) ? :free : :apart)

def pin(core)
  system("taskset", "-cp", core.to_s, Process.pid.to_s, out: File::NULL) if core
end

def in_pinned_child
  in_child do
    pin(RECEIVERS_CORE)
    yield
  end
end

def check(receiver, port, size)
  digest = Digest::SHA256.new
  receiver.call(port, size, ->(bytes) { digest << bytes })
  digest.hexdigest
end

def measure(receiver, port, size)
  bytes = 0
  times = wall_and_processor_time { receiver.call(port, size, ->(string) { bytes += string.bytesize }) }
  (bytes == size) ? times : raise("#{bytes} bytes of #{size}")
end

listener = TCPServer.new("127.0.0.1", 0)
port = listener.addr[1]
sender = fork { [pin(SENDERS_CORE), serve(listener)] }
at_exit { Process.kill(:KILL, sender) if sender }
listener.close

wanted = Pelton::Lab::Pattern.digest(1 << 24)
RECEIVERS.each do |name, receiver|
  in_pinned_child { check(receiver, port, 1 << 24) } == wanted || abort("#{name}: other bytes came than were sent")
end

size = MEGABYTES << 20
times = RECEIVERS.transform_values { [] }
ROUNDS.times do
  RECEIVERS.to_a.shuffle.each { |name, receiver| times[name] << in_pinned_child { measure(receiver, port, size) } }
end

medians = times.transform_values { |rounds| rounds.transpose.map { |values| median(values) } }
base = medians.values.first
puts format("%-36s %8s %8s %8s %8s", "#{MEGABYTES} MB, medians of #{ROUNDS}", "wall s", "ratio", "CPU s", "ratio")
medians.each do |name, (wall, cpu)|
  puts format("%-36s %8.3f %8.2f %8.3f %8.2f", name, wall, wall / base[0], cpu, cpu / base[1])
end
