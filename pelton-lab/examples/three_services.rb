# frozen_string_literal: true

require "pelton/lab/processes"

# A template for your own experiments: copy this file, replace the work by yours, and run it.
#
#     pelton lab three_services.rb --html report.html
#     pelton lab three_services.rb --latency 0,20
#
# Here a program uses three services that take 5 ms each: one after the other, in threads, or in Pelton's fibers, which
# run the same Net::HTTP.
Pelton::Lab.experiment "three services" do
  about "three services of 5 ms, asked one after the other or at once"

  # A service in a separate process. A race's server needs a port and a version to print.
  service = Struct.new(:port, :version)
  program = <<~'RUBY'
    require "socket"
    listener = TCPServer.new("127.0.0.1", 0)
    puts listener.addr[1]
    $stdout.close
    loop do
      Thread.new(listener.accept) do |socket|
        nil until socket.gets == "\r\n"
        sleep 0.005
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        socket.close
      end
    end
  RUBY

  # `--latency 0,20` puts the service 20 ms further away.
  race "ask them", size: 10, unit: "pages", rehearsal: 1, latency: [0] do
    server do |processes, core|
      reader, writer = IO.pipe
      processes.start("ruby", "-e", program, core:, out: writer)
      writer.close
      service.new(Integer(reader.gets), "a slow service")
    end

    # Code outside of run.measure is not timed: requiring, connecting, building data.
    baseline "one after the other", style: "blocking" do |run|
      require "net/http"
      url = URI("http://#{run.address}/")
      run.measure do
        run.size.times { 3.times { run.expect("hello", Net::HTTP.get(url)) } }
      end
    end

    contender "a thread each", style: "blocking" do |run|
      require "net/http"
      url = URI("http://#{run.address}/")
      run.measure do
        run.size.times { Array.new(3) { Thread.new { run.expect("hello", Net::HTTP.get(url)) } }.each(&:join) }
      end
    end

    contender "Pelton, a fiber each", style: "direct" do |run|
      require "net/http"
      require "pelton"
      url = URI("http://#{run.address}/")
      run.measure do
        Pelton.run do
          run.size.times { Array.new(3) { Pelton.spawn { run.expect("hello", Net::HTTP.get(url)) } }.each(&:await) }
        end
      end
    end

    target 1, "a fiber each / one after the other", of: "Pelton, a fiber each", at_most: 0.5
  end
end
