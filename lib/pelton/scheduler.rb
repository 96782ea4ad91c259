# frozen_string_literal: true

module Pelton
  # The hooks by which Ruby asks its fiber scheduler to wait. The reactor is that scheduler; programs use Ruby's own
  # methods. Those that are called often are in C.
  module Scheduler
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

    # Reads from a file at a place. What is read goes through a string, so that a thread that comes too late finds no
    # memory of somebody else's.
    #
    # @return [Integer] bytes, or the negated error number
    def io_pread(io, buffer, *range)
      from, most, offset = place(buffer, *range)
      string = Offload::POOL.call { io.pread(most, from) }
      buffer.set_string(string, offset)
      string.bytesize
    rescue EOFError
      0
    rescue SystemCallError => error
      -error.errno
    end

    # Writes to a file at a place.
    #
    # @return [Integer] bytes, or the negated error number
    def io_pwrite(io, buffer, *range)
      from, most, offset, length = place(buffer, *range)
      string = buffer.get_string(offset, length || most)
      Offload::POOL.call { io.pwrite(string, from) }
    rescue SystemCallError => error
      -error.errno
    end

    # Runs what Ruby would do without the GVL.
    def blocking_operation_wait(work)
      Offload::POOL.call_to_end { work.call }
    end

    private

    # Of several processes, or for more than their end.
    def process_wait_in_thread(pid, flags)
      thread = Thread.new { Process::Status.wait(pid, flags) }
      thread.value
    ensure
      thread&.kill&.join # before anybody else waits for the same processes
    end

    # The arguments after the buffer are the place in the file, and then: the length in the buffer, from its offset. 3.1
    # gives no offset and the place last. From 4.1 on (version 3 of the buffer) the offset comes before the length.
    #
    # @return [Integer, Integer, Integer, Integer?] place in the file, bytes at most, offset, bytes exactly
    def place(buffer, first, second, third = nil)
      return [second, buffer.size, 0, first] unless third
      offset, length = buffer_version_3? ? [second, third] : [third, second]
      most = buffer_version_3? ? length : buffer.size - offset
      [first, most, offset, nil]
    end

    def buffer_version_3? = IO::Buffer.const_defined?(:VERSION) && IO::Buffer::VERSION >= 3
  end

  class << self
    # What IO.select does, but without stopping the loop, which IO.select does before Ruby 3.2.
    #
    # @param timeout [Numeric, nil] seconds
    # @return [Array(Array, Array, Array), nil] those that are ready; nil when the time is over first
    # @asynchronous
    def select(readables = nil, writables = nil, exceptables = nil, timeout: nil)
      Reactor.current.io_select(readables, writables, exceptables, timeout)
    end

    # Closes an IO for which other tasks may be waiting: they go on, and meet an IOError. IO#close alone leaves them
    # parked before Ruby 4, which tells nobody of it.
    def close(io)
      Reactor.current.io_close(io.to_io) unless io.closed?
      io.close
    end
  end
end
