# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/scheduling"
require "pelton"
require "tempfile"

# The hooks that some versions of Ruby alone call, or each version with arguments of its own: most are called here as
# Ruby calls them. There is no io_write (docs/internals/adr/007-io-read-without-io-write.md).
class SchedulerHooksTest < PeltonTest
  include Scheduling

  def test_fiber_interrupt
    Pelton.run do
      fiber = nil
      task = Pelton.spawn { (fiber = Fiber.current) && sleep }
      sleep 0

      assert scheduler.fiber_interrupt(fiber, IOError.new("closed"))
      assert_raises(IOError) { task.await }
      refute scheduler.fiber_interrupt(Fiber.new {}, IOError.new)
    end
  end

  # From 4.1 on Ruby passes an object that stands for what the fiber waits for.
  def test_fiber_interrupt_by_an_operation
    operation = Struct.new(:fiber) { def raise(error) = fiber.raise(error) }
    Pelton.run do
      fiber = nil
      task = Pelton.spawn { (fiber = Fiber.current) && sleep }
      sleep 0

      assert scheduler.fiber_interrupt(operation.new(fiber), IOError.new("closed"))
      assert_raises(IOError) { task.await }
    end

    assert_equal [0, 0], Pelton.stats.values_at(:parked, :ready)
  end

  def test_io_close
    reader, writer = IO.pipe
    descriptor = reader.dup.tap { |io| io.autoclose = false }.fileno
    Pelton.run do
      task = Pelton.spawn { reader.read(1) }
      sleep 0
      Pelton.close_io(reader)

      assert_raises(IOError) { task.await }
      assert scheduler.io_close(descriptor) # as Ruby 4 calls it
      assert_raises(Errno::EPIPE) { writer.syswrite("x") }
      assert_raises(Errno::EBADF) { scheduler.io_close(descriptor) }
    end
  end

  # Calls IO::Buffer itself, because each version of Ruby passes other arguments to the hooks. The results must be the
  # same without a scheduler. Ruby 3.2 has swapped the length and the position.
  def test_pread_and_pwrite
    order = ->(length, position) { (RUBY_VERSION < "3.2") ? [length, position] : [position, length] }
    use = lambda do |file|
      buffer = buffer_of(8)
      reads = [[8, 6], [3, 0], [8, 100]].flat_map do |range|
        [buffer.pread(file, *order.call(*range)), buffer.get_string(0, 5)]
      end
      reads << buffer.pwrite(file, *order.call(2, 7)) << File.read(file.path)
    end
    before, inside = [->(file) { use.call(file) }, ->(file) { Pelton.run { use.call(file) } }].map do |run|
      Tempfile.create { |file| file.write("hello world") && file.flush && run.call(file) }
    end

    assert_equal before, inside
    assert_equal [5, "world"], inside.first(2)
    # Ruby 3.1 does not raise
    assert_equal(-Errno::ESPIPE::Errno, Pelton.run { scheduler.io_pread(IO.pipe[0], buffer_of(8), 1, 0) })
  end

  # As Ruby 4.1 calls them, which cannot be had yet: version 3 of IO::Buffer has the offset before the length, and
  # io_read does not wait.
  def test_the_hooks_of_a_later_ruby
    program = <<~RUBY
      IO::Buffer.const_set(:VERSION, 3) unless IO::Buffer.const_defined?(:VERSION)
      require "pelton"
      require "tempfile"
      Warning[:experimental] = false
      reader, writer = IO.pipe
      file = Tempfile.new.tap { |one| one.write("hello world") && one.flush }
      buffer = IO::Buffer.new(8)
      Pelton.run do
        scheduler = Fiber.scheduler
        p scheduler.io_read(reader, buffer, 2, 3) == -Errno::EAGAIN::Errno
        writer << "abcdef"
        p scheduler.io_read(reader, buffer, 2, 0), scheduler.io_read(reader, buffer, 2, 3), buffer.get_string
        p scheduler.io_pread(file, buffer, 6, 1, 4), buffer.get_string
        p scheduler.io_pwrite(file, buffer, 8, 1, 2)
      end
      p File.read(file.path) # not in run: this Ruby itself calls the hook in its own order
    RUBY

    assert_equal <<~'TEXT', ruby_output(program)
      true
      0
      3
      "\x00\x00abc\x00\x00\x00"
      4
      "\x00worl\x00\x00\x00"
      2
      "hello wowod"
    TEXT
  end

  # (from, length, offset) from Ruby 3.2 on.
  def test_pread_and_pwrite_with_an_offset
    if IO::Buffer.const_defined?(:VERSION) && IO::Buffer::VERSION >= 3
      skip "IO::Buffer's order of offset and length is another"
    end
    Tempfile.create do |file|
      file.write("hello world") && file.flush
      buffer = buffer_of(8)
      Pelton.run do
        assert_equal 6, scheduler.io_pread(file, buffer, 0, 0, 2)
        assert_equal "\0\0hello ", buffer.get_string
        assert_equal 3, scheduler.io_pwrite(file, buffer, 8, 3, 5)
        assert_equal "hello wolo ", File.read(file.path)
      end
    end
  end

  private

  def scheduler = Fiber.scheduler
end
