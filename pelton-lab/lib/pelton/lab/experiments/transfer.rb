# frozen_string_literal: true

require "digest"
require "pelton/lab/pattern"
require "pelton/lab/sender"

# "The cost of the async state machine" received 16 MB over loopback: 0.055 s with blocking calls, 0.380 s with
# asynchronous ones; 256 MB: 0.821 s and 5.669 s; and 16 MB through a slow line: 29.8 s and 29.9 s.
Pelton::Lab.experiment "transfer" do
  about "receiving megabytes over loopback and through a slow line: blocking reads against an event loop"

  # Counts the received bytes; in the rehearsal it checks each of them.
  tally = Class.new do
    attr_reader :bytes

    def initialize(run)
      @run = run
      @wanted = run.size * 1_048_576
      @bytes = 0
      @digest = Digest::SHA256.new if run.rehearsal?
    end

    def request
      "#{@wanted}\n"
    end

    def <<(string)
      @bytes += string.bytesize
      @digest&.update(string)
    end

    def check
      @run.expect(@wanted, @bytes, "the number of bytes")
      @run.expect(Pelton::Lab::Pattern.digest(@wanted), @digest.hexdigest, "the digest") if @digest
    end
  end

  # Reads all into one buffer.
  read = lambda do |received, socket|
    socket.write(received.request)
    buffer = String.new(capacity: 65_536)
    begin
      loop { received << socket.readpartial(65_536, buffer) }
    rescue EOFError
      socket.close
    end
  end

  receivers = lambda do |race, slow: false|
    race.server { |processes, core| Pelton::Lab::Sender.new(processes, core) }
    race.metric :real, "s", digits: 4

    race.baseline "Ruby, readpartial", style: "blocking" do |run|
      require "socket"
      received = tally.new(run)
      run.measure { read.call(received, TCPSocket.new(run.host, run.port)) }
      received.check
    end

    race.contender "EventMachine, receive_data", style: "callback", gem: "eventmachine", extra: slow do |run|
      require "eventmachine"
      EM.epoll
      received = tally.new(run)
      receiver = Module.new do
        define_method(:post_init) { send_data(received.request) }
        define_method(:receive_data) { |string| received << string }
        define_method(:unbind) { |*| EM.stop }
      end
      run.measure { EM.run { EM.connect(run.host, run.port, receiver) } }
      received.check
    end

    race.contender "Pelton, readpartial", style: "direct" do |run|
      require "pelton"
      received = tally.new(run)
      run.measure { Pelton.run { read.call(received, Pelton.connect(run.host, run.port)) } }
      received.check
    end

    race.contender "Pelton, on_data", style: "callback", extra: slow do |run|
      require "pelton"
      received = tally.new(run)
      run.measure do
        Pelton.run do
          stream = Pelton.connect(run.host, run.port)
          stream.on_data { |string| received << string }
          stream.on_close { Pelton.stop }
          stream.write(received.request)
        end
      end
      received.check
    end
  end

  race "256 MB", size: {apart: 256}, unit: "MB", rehearsal: 4 do
    about "received over loopback"
    past '"The cost of the async state machine"', source: "C#, 256 MB over loopback" do
      row "Sync", style: "blocking", real: 0.821
      row "Async", style: "async/await", real: 5.669
    end
    receivers.call(self)
    target 7, "256 MB, reused buffer / blocking readpartial: CPU", of: "Pelton, readpartial", at_most: 1.10,
      metric: :cpu
    target 7, "the same: wall", of: "Pelton, readpartial", at_most: 1.10
    target 8, "256 MB, a fresh string each / blocking readpartial: CPU", of: "Pelton, on_data", at_most: 2.0,
      metric: :cpu
    target 8, "the same: wall", of: "Pelton, on_data", at_most: 1.25
  end

  # The article's proxy: 10 ms for each piece of at most 64 KB.
  race "through a slow line", size: {apart: 4}, full: 16, unit: "MB", rounds: 3, rehearsal: 1, link: {chunk: 0.01} do
    about "received through a line that lets 64 KB pass every 10 ms"
    past '"The cost of the async state machine"', source: "C#, 16 MB through a proxy that takes its time", size: 16 do
      row "Sync", style: "blocking", real: 29.849
      row "Async", style: "async/await", real: 29.900
    end
    receivers.call(self, slow: true)
    target 9, "4 MB through a latency proxy / blocking readpartial", of: "Pelton, readpartial", at_most: 1.02
  end
end
