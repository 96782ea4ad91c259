# frozen_string_literal: true

require "socket"
require_relative "../test_helper"

# The memory that large responses take: the server is a process of its own, whose memory is read from outside.
class HTTPMemoryTest < PeltonTest
  MEGABYTE = 1 << 20

  def setup
    skip "no /proc" unless File.exist?("/proc/self/status")
  end

  def serving(app, options = "")
    reader, writer = IO.pipe
    pid = Process.spawn(RbConfig.ruby, "-I#{Children::LIB}", "-e", <<~RUBY, out: writer)
      require "pelton/http"
      Pelton.run do
        server = Pelton::HTTP::Server.new(#{app}#{options})
        $stdout.puts server.listen("tcp://127.0.0.1:0").port
        $stdout.flush
      end
    RUBY
    writer.close
    @port = Integer(reader.gets)
    @pid = pid
    get("/small") { |socket| socket.read }
    yield
  ensure
    Process.kill("KILL", pid)
    Process.wait(pid)
  end

  def serving_large_bodies(&block)
    serving('->(env) { [200, {}, [env["PATH_INFO"] == "/small" ? "x" : "y" * 8_388_608]] }', &block)
  end

  # Clients that read one byte of a large response.
  def slow_readers = Array.new(100) { get("/large") { |socket| socket.tap { socket.readpartial(1) } } }

  def get(path)
    socket = TCPSocket.new("127.0.0.1", @port)
    socket.write("GET #{path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    yield socket
  end

  # Peak memory, in bytes.
  def memory = File.read("/proc/#{@pid}/status")[/VmHWM:\s+(\d+)/, 1].to_i * 1024

  def drain(socket)
    buffer = +""
    count = 0
    count += buffer.bytesize while socket.read(MEGABYTE, buffer)
    count
  end

  def test_a_file_is_sent_without_passing_through_memory
    Tempfile.create("large") do |file|
      file.truncate(100 * MEGABYTE)
      app = <<~RUBY
        lambda do |env|
          body = Object.new
          path = env["PATH_INFO"] == "/small" ? "/etc/hosts" : #{file.path.inspect}
          body.define_singleton_method(:to_path) { path }
          body.define_singleton_method(:each) { raise "not this way" }
          [200, {"content-length" => File.size(path).to_s}, body]
        end
      RUBY
      serving(app) do
        before = memory

        assert_operator get("/large") { |socket| drain(socket) }, :>, 100 * MEGABYTE
        assert_operator memory - before, :<, 10 * MEGABYTE
      end
    end
  end

  def resident = File.read("/proc/#{@pid}/status")[/VmRSS:\s+(\d+)/, 1].to_i * 1024

  # Neither Ruby nor malloc would give it back: a server that has nothing to do neither allocates nor collects.
  def test_the_memory_of_a_peak_is_given_back
    serving_large_bodies do
      before = resident
      slow = slow_readers
      sleep 0.1 until resident - before > 200 * MEGABYTE
      slow.each(&:close)
      sleep 0.1 until resident - before < 50 * MEGABYTE
    end
  end

  # 8 MB for each of 100 clients that do not read: no other client is kept waiting, and each takes the memory of its own
  # body.
  def test_slow_readers_cost_their_own_bodies
    serving_large_bodies do
      before = memory
      slow = slow_readers

      assert_equal "x", get("/small") { |socket| socket.read[/x\z/] }
      assert_operator memory - before, :<, 100 * 8 * MEGABYTE * 1.1
      assert_operator drain(slow.last), :>, 8 * MEGABYTE - 1
      slow.each(&:close)
    end
  end

  # Clients that do not read share what is kept.
  def test_a_page_of_the_cache_is_not_copied_for_each_client
    app =
      '->(env) { [200, {"cache-control" => "public, max-age=600"}, [env["PATH_INFO"] == "/small" ? "x" : "y" * ' \
      "4_194_304]] }"
    serving(app, ", cache: 64 << 20") do
      TCPSocket.open("127.0.0.1", @port) do |socket| # the response of a connection that stays is kept
        socket.write("GET /large HTTP/1.1\r\nHost: h\r\n\r\n")
        socket.read(socket.gets("\r\n\r\n")[/content-length: (\d+)/, 1].to_i)
      end
      get("/large") { |socket| assert_includes socket.gets("\r\n\r\n"), "\r\nage: " }
      before = memory
      slow = slow_readers

      assert_operator memory - before, :<, 10 * MEGABYTE
      slow.each { |socket| assert_operator drain(socket), :>, 4_194_304 }
      assert_operator memory - before, :<, 10 * MEGABYTE
    ensure
      slow&.each(&:close)
    end
  end
end
