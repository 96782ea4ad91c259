# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/scheduling"
require "pelton"
require "stringio"
require "tempfile"

# Ruby's IO on the scheduler: io_read and io_wait. The awaited data comes from another task of the same loop, so the
# tests end only if the loop goes on meanwhile.
class SchedulerReadTest < PeltonTest
  include Scheduling

  self.deadline = 15

  def test_ways_to_read
    {
      readpartial: -> { @here.readpartial(10) }, sysread: -> { @here.sysread(10) }, recv: -> { @here.recv(10) },
      gets: -> { @here.gets }, read: -> { @here.read(2) }, getc: -> { @here.getc + @here.getc },
      readline: -> { @here.readline }, each_line: -> { @here.each_line.first },
      read_after_wait: -> { @here.wait_readable.readpartial(10) },
      getbyte: -> { [@here.getbyte, @here.getbyte].pack("C*") }, recvmsg: -> { @here.recvmsg.first }
    }.each do |name, way|
      assert_equal "x\n", beside(-> { @there << "x\n" }, &way), name
    end
  end

  def test_reading_without_waiting
    Pelton.run do
      assert_equal :wait_readable, @here.read_nonblock(10, exception: false)
      assert_raises(IO::WaitReadable) { @here.read_nonblock(10) }
      assert_equal :wait_readable, @here.recv_nonblock(10, exception: false)
      @there << "x"

      assert_equal "x", @here.read_nonblock(10)
    end
  end

  def test_the_end
    assert_equal "abc", beside(-> { (@there << "abc") && @there.close_write }) { @here.read }
    Pelton.run do
      assert_nil @here.gets
      assert_raises(EOFError) { @here.readpartial(1) }
    end
  end

  def test_pipes_and_popen
    reader, writer = IO.pipe

    assert_equal "x", beside(-> { writer << "x" }) { reader.readpartial(10) }
    IO.popen("cat", "r+") do |cat|
      assert_equal "y\n", beside(-> { cat.puts("y") }) { cat.gets }
    end
  end

  def test_much_written_with_a_reader_on_the_same_socket
    sent = Random.bytes(3_000_000)
    Pelton.run do
      echo = Pelton.spawn { loop { @there.write(@there.readpartial(65_536)) } }
      writer = Pelton.spawn { @here.write(sent) }
      received = @here.read(sent.bytesize)

      assert_equal sent.bytesize, writer.await
      assert_equal sent, received.b
      echo.cancel
    end
  end

  def test_lines_stay_whole
    Pelton.run do
      writers = Array.new(10) { |i| Pelton.spawn { 50.times { @there.puts(i.to_s * 1000) } } }
      lines = Array.new(500) { @here.gets(chomp: true) }
      writers.each(&:await)

      assert_equal (0..9).map { |i| i.to_s * 1000 }, lines.uniq.sort
    end
  end

  def test_accept_and_connect
    server = TCPServer.new("127.0.0.1", 0)
    accepted = beside(-> { TCPSocket.new("127.0.0.1", server.addr[1]).puts("hello") }) { server.accept }

    assert_equal "hello\n", accepted.gets
    path = Dir::Tmpname.create("socket") {}
    local = UNIXServer.new(path)
    assert_equal "bye\n", beside(-> { UNIXSocket.new(path).puts("bye") }) { local.accept.gets }
  ensure
    File.unlink(path)
  end

  def test_datagrams
    socket = UDPSocket.new.tap { |udp| udp.bind("127.0.0.1", 0) }
    message, = beside(-> { UDPSocket.new.tap { |udp| udp.connect("127.0.0.1", socket.addr[1]) }.write("hello") }) do
      socket.recvfrom(10)
    end

    assert_equal "hello", message
  end

  def test_copy_stream
    data = Random.bytes(2_000_000)
    Tempfile.create(binmode: true) do |file|
      file.write(data) && file.flush
      Pelton.run do
        copying = Pelton.spawn { IO.copy_stream(file.path, @there) && @there.close_write }

        assert_equal data, @here.read.b
        copying.await
      end
      collected = StringIO.new("".b)
      other, end_of_other = UNIXSocket.pair
      writing = -> { end_of_other.write(data) && end_of_other.close }

      assert_equal data.bytesize, beside(writing) { IO.copy_stream(other, collected) }
      assert_equal data, collected.string
    end
  end

  def test_a_copy_stream_that_waits_is_cancelled
    other, = UNIXSocket.pair
    Pelton.run do
      copying = Pelton.spawn { IO.copy_stream(other, @there) }
      sleep 0
      copying.cancel

      assert_raises(Pelton::Cancelled) { copying.await }
    end
  end

  def test_copy_stream_between_sockets
    data = "x" * 1_000_000
    other, end_of_other = UNIXSocket.pair
    Pelton.run do
      Pelton.spawn { end_of_other.write(data) && end_of_other.close }
      Pelton.spawn { IO.copy_stream(other, @there) && @there.close_write }

      assert_equal data, @here.read
    end
  end

  def test_files
    Tempfile.create do |file|
      Pelton.run do
        File.write(file.path, "line\n" * 500_000)

        assert_equal 2_500_000, File.read(file.path).bytesize
        assert_equal 500_000, File.foreach(file.path).count
        assert_equal 10, File.open(file.path) { |io| io.sysread(10).bytesize }
      end
    end
  end

  # The descriptor is in blocking mode: the child's end of a pipe, as another program would leave it.
  def test_standard_input_in_blocking_mode
    program = <<~RUBY
      require "pelton"
      require "io/nonblock"
      $stdout.sync = true
      $stdin.nonblock = false
      Pelton.run do
        Pelton.spawn { sleep(0) && puts("another") }
        puts $stdin.gets
        puts $stdin.read
      end
    RUBY
    IO.popen([RbConfig.ruby, "-W0", "-I#{Children::LIB}", "-e", program], "r+") do |child|
      assert_equal "another\n", child.gets
      child.puts("input")
      assert_equal "input\n", child.gets
      child.puts("rest")
      child.close_write
      assert_equal "rest\n", child.read
    end
  end

  # Data is always ready, so the reader could go on without ever waiting.
  def test_a_reader_that_always_finds_data_starves_no_other_task
    zero = File.open("/dev/zero")
    stop = false
    reads = 0
    Pelton.run do
      Pelton.add_timer(0.001) { stop = true }
      zero.readpartial(4096) && reads += 1 until stop
    end

    assert_operator reads, :>, 0
  end

  # Each file is a read, and all reads together exhaust the budget.
  def test_no_other_task_sees_a_class_that_is_half_loaded
    Dir.mktmpdir do |folder|
      count = 400
      count.times do |number|
        File.write("#{folder}/part#{number}.rb", "module AutoloadedByTasks; Part#{number} = #{number}; end")
      end
      File.write("#{folder}/whole.rb",
        "module AutoloadedByTasks; #{count}.times { |number| require \"#{folder}/part\#{number}\" }; end")
      Object.autoload(:AutoloadedByTasks, "#{folder}/whole")
      sizes = Pelton.run { Pelton.map(1..20) { AutoloadedByTasks.constants.size } }

      assert_equal [count] * 20, sizes
    end
  end

  def test_two_readers_of_one_socket
    Pelton.run do
      readers = Array.new(2) { Pelton.spawn { @here.readpartial(1) } }
      sleep 0
      @there << "ab"

      assert_equal %w[a b], readers.map(&:await).sort
    end
  end

  def test_a_reader_and_a_writer_of_one_socket
    nil while @here.write_nonblock("x" * 100_000, exception: false) != :wait_writable
    Pelton.run do
      writer = Pelton.spawn { @here.write("end") }
      reader = Pelton.spawn { @here.read(4) }
      sleep 0
      refute_predicate writer, :done?
      refute_predicate reader, :done?
      @there << "word"
      @there.readpartial(1_000_000) until writer.done? || sleep(0).nil?

      assert_equal "word", reader.await
      assert_equal 3, writer.await
    end
  end

  # The hook as Ruby 3.1 and 3.2 call it: (io, buffer, length) and (io, buffer, length, offset).
  def test_the_hook
    buffer = buffer_of(8)
    Pelton.run do
      scheduler = Fiber.scheduler
      Pelton.spawn { @there << "abc" }
      assert_equal 3, scheduler.io_read(@here, buffer, 0)
      @there << "de"
      Pelton.spawn { @there << "fgh" }
      assert_equal 5, scheduler.io_read(@here, buffer, 3, 3)
      assert_equal "abcdefgh", buffer.get_string
      Pelton.spawn { (@there << "x") && @there.close_write }
      assert_equal 1, scheduler.io_read(@here, buffer, 4)
      assert_equal 0, scheduler.io_read(@here, buffer, 4)
      assert_raises(ArgumentError) { scheduler.io_read(@here, buffer, 1, 9) }
      [[], [1, 0, 0]].each do |wrong|
        assert_match(/wrong number of arguments/,
          assert_raises(ArgumentError) { scheduler.io_read(@here, buffer, *wrong) }.message)
      end
      assert_equal(-Errno::EISDIR::Errno, scheduler.io_read(File.open("/"), buffer, 1))
      @here.close
      assert_raises(IOError) { scheduler.io_read(@here, buffer, 1) }
    end
  end

  def test_the_timeout_of_an_io
    skip "IO#timeout= came with Ruby 3.2" unless @here.respond_to?(:timeout=)
    @here.timeout = 0.001

    Pelton.run { assert_raises(IO::TimeoutError) { @here.readpartial(1) } }
  end
end
