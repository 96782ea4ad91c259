# frozen_string_literal: true

module Pelton
  # The hooks by which Ruby asks its fiber scheduler to wait. The reactor is that scheduler, and programs call Ruby's
  # own methods. The frequently called hooks are in C.
  module Scheduler
    SLOW_PLACES = SlowPlaces.new
    private_constant :SLOW_PLACES

    # Seconds from which on a call is long.
    LONG = 0.001
    private_constant :LONG

    # Ruby makes an IO::Buffer for each call of io_read, and warns from 4.0 on at the first one of a process that the
    # class is experimental. That does not concern a program which only reads.
    if RUBY_VERSION >= "4.0"
      experimental, Warning[:experimental] = Warning[:experimental], false
      IO::Buffer.new(0)
      Warning[:experimental] = experimental
    end

    # @param flags [Integer] of Process.wait
    # @return [Process::Status]
    def process_wait(pid, flags)
      descriptor = pidfd(pid) if pid > 0 && flags == 0
      return process_wait_in_thread(pid, flags) unless descriptor
      io = IO.for_fd(descriptor)
      until (status = Process::Status.wait(pid, Process::WNOHANG))
        io_wait(io, IO::READABLE)
      end
      status
    ensure
      if io
        io_close(io)
        io.close
      end
    end

    # @return [Array<String>, nil] addresses
    def address_resolve(hostname)
      Resolver.resolve(String(hostname), nil).map(&:ip_address).uniq
    rescue ResolutionError
      nil # Ruby raises its own error
    end

    # Reads from a file at a position. The bytes go through a string: a thread that ends too late would otherwise write
    # to memory that is used for something else by then.
    #
    # @return [Integer] bytes, or the negated error number
    def io_pread(io, buffer, *range)
      place = call_site
      from, most, offset = file_range(buffer, *range)
      string = in_place?(place) ? in_place(place) { io.pread(most, from) } : Offload::POOL.call { io.pread(most, from) }
      buffer.set_string(string, offset)
      string.bytesize
    rescue EOFError
      0
    rescue SystemCallError => error
      -error.errno
    end

    # Writes to a file at a position.
    #
    # @return [Integer] bytes, or the negated error number
    def io_pwrite(io, buffer, *range)
      place = call_site
      from, most, offset, length = file_range(buffer, *range)
      # Ruby 3.1's IO::Buffer#pwrite converts the position to an Integer twice: 5 comes as 11
      from >>= 1 if range.size == 2
      string = buffer.get_string(offset, length || most)
      in_place?(place) ? in_place(place) { io.pwrite(string, from) } : Offload::POOL.call { io.pwrite(string, from) }
    rescue SystemCallError => error
      -error.errno
    end

    private

    # Also while code is loaded: a call on another thread would let other fibers run, and they would see half-loaded
    # code.
    def in_place?(place) = !SLOW_PLACES.slow?(place) || loads_code?

    # Makes the call on a blocking fiber: on another one Ruby would call the hook again. A call is long by the clock
    # only where Ruby does not tell better: by the clock, waiting for the GVL and for a core counts, too.
    def in_place(place)
      before = Scheduler.long_calls || Clock.now
      Fiber.respond_to?(:blocking) ? Fiber.blocking { yield } : yield
    ensure
      SLOW_PLACES.made(place, long: Scheduler.long_calls ? Scheduler.long_calls > before : Clock.now - before >= LONG)
    end

    # Runs IO.copy_stream's work, which calls io_wait when it must wait, but only on a fiber that is not blocking. There
    # Ruby would call this hook again. Ruby skips the hook if respond_to? denies it, but asks only where respond_to? is
    # redefined. There is no other way to decline: Ruby takes what the hook returns for the work's result, and a
    # blocking fiber could not wait. Ruby would call a permanent respond_to? before every hook, so this one is removed
    # at once.
    def without_this_hook(work)
      define_singleton_method(:respond_to?) do |name, *all|
        singleton_class.remove_method(:respond_to?)
        name != :blocking_operation_wait && super(name, *all)
      end
      work.call
    end

    # For a wait for several processes, or for other changes than a process's end.
    def process_wait_in_thread(pid, flags)
      thread = Thread.new { Process::Status.wait(pid, flags) }
      thread.value
    ensure
      thread&.kill&.join # before another wait for the same processes begins
    end

    # The arguments after the buffer are the position in the file, the length in the buffer, and the buffer's offset.
    # From 4.1 on (version 3 of the buffer) the offset comes before the length. Ruby 3.1 passes the length and then the
    # position.
    #
    # @return [Integer, Integer, Integer, Integer?] position in the file, bytes at most, offset, exact number of bytes
    def file_range(buffer, first, second, third = nil)
      return [second, buffer.size, 0, first] unless third
      offset, length = buffer_version_3? ? [second, third] : [third, second]
      most = buffer_version_3? ? length : buffer.size - offset
      [first, most, offset, nil]
    end

    def buffer_version_3? = IO::Buffer.const_defined?(:VERSION) && IO::Buffer::VERSION >= 3
  end

  class << self
    # Does the same as IO.select without stopping the loop. IO.select itself stops the loop before Ruby 3.2.
    #
    # @param timeout [Numeric, nil] seconds
    # @return [Array(Array, Array, Array), nil] the IOs that are ready; nil when the time is over first
    # @asynchronous
    def select(readables = nil, writables = nil, exceptables = nil, timeout: nil)
      Reactor.current.io_select(readables, writables, exceptables, timeout)
    end

    # Closes an IO for which other tasks may be waiting: an IOError is raised in them. IO#close alone leaves them parked
    # before Ruby 4.0, because Ruby does not notify the scheduler; from 4.0 on it waits until they have left the IO,
    # which in a blocking fiber would stop the loop.
    #
    # @param io [IO]
    # @return [nil]
    # @asynchronous
    def close_io(io)
      Reactor.current.io_close(io.to_io) unless io.closed?
      return spawn { io.close }.await if RUBY_VERSION >= "4.0" && Fiber.current.blocking? && running?
      io.close
    end
  end
end
