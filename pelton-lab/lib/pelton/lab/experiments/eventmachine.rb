# frozen_string_literal: true

require "socket"
require "pelton/lab/memcached_server"

# Programs of EventMachine's, on the gem and on Pelton: the same code, another require.
Pelton::Lab.experiment "eventmachine" do
  about "EventMachine programs on pelton-eventmachine and on the gem eventmachine: an echo, receiving in bulk, a cache"
  only_when_named

  both = lambda do |race, &work|
    race.metric :cpu_us_per_operation, "CPU us/op"
    race.baseline("eventmachine", style: "callback", gem: "eventmachine") do |run|
      require "eventmachine"
      EM.epoll
      work.call(run)
    end
    race.contender("Pelton", style: "callback") do |run|
      require "pelton/eventmachine"
      work.call(run)
    end
  end

  race "echo", size: {free: 60_000}, unit: "echoes" do
    about "64 bytes and back, on 64 connections, both ends in one process"

    both.call(self) do |run|
      message = "x" * 64
      done = 0
      echo = Module.new { def receive_data(data) = send_data(data) }
      client = Module.new do
        define_method(:connection_completed) { send_data(message) }
        define_method(:receive_data) do |data|
          run.expect(message, data)
          ((done += 1) == run.size) ? EM.stop : send_data(message)
        end
      end
      run.measure do
        EM.run do
          port = Socket.unpack_sockaddr_in(EM.get_sockname(EM.start_server("127.0.0.1", 0, echo))).first
          64.times { EM.connect("127.0.0.1", port, client) }
        end
      end
    end

    target 25, "an echo, 64 connections: CPU / eventmachine (1.2 times its speed)", of: "Pelton", at_most: 1 / 1.2
  end

  race "receive_data in bulk", size: {apart: 256}, unit: "MB", rehearsal: 4 do
    about "megabytes from a process that does nothing but write"

    both.call(self) do |run|
      wanted = run.size * 1_048_576
      got = 0
      sink = Module.new { define_method(:receive_data) { |data| EM.stop if (got += data.bytesize) == wanted } }
      listener = TCPServer.new("127.0.0.1", 0)
      sender = fork do
        peer = listener.accept
        piece = "x" * 1_048_576
        run.size.times { peer.write(piece) }
        peer.read
      end
      run.measure { EM.run { EM.connect("127.0.0.1", listener.local_address.ip_port, sink) } }
      run.expect(wanted, got, "the number of bytes")
    ensure
      Process.kill(:KILL, sender)
      Process.wait(sender)
    end

    target 25, "receive_data in bulk: CPU / eventmachine", of: "Pelton", at_most: 0.75
  end

  race "set, get, delete", size: {same: 30_000}, full: 100_000, unit: "keys" do
    about "the asynchronous half of \"Asynchronous != Faster\", by EM::P::Memcache"
    server { |processes, core, address| Pelton::Lab::MemcachedServer.start(processes, core, address) }

    both.call(self) do |run|
      right = 0
      run.measure(3 * run.size) do
        EM.run do
          cache = EM::P::Memcache.connect(run.host, run.port)
          1.upto(run.size) { |n| cache.set("key#{n}", "value#{n}") {} }
          1.upto(run.size) { |n| cache.get("key#{n}") { |value| right += 1 if value == "value#{n}" } }
          1.upto(run.size) { |n| cache.del("key#{n}") { EM.stop if n == run.size } }
        end
      end
      run.expect(run.size, right, "the number of right values")
    end

    target 25, "set, get, delete by EM::P::Memcache: CPU / eventmachine", of: "Pelton", at_most: 0.20
  end
end
