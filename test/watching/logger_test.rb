# frozen_string_literal: true

require "json"
require "logger"
require "stringio"
require_relative "../test_helper"
require "pelton"

class LoggerTest < PeltonTest
  def teardown
    Pelton.logger = $stderr
  end

  def test_the_default_writes_to_standard_error_as_it_is_at_that_moment
    assert_equal "pelton: two\n", ruby_output(<<~RUBY)
      require "pelton"
      require "stringio"
      $stderr = StringIO.new
      Pelton.logger.warn("one")
      $stderr.tap { $stderr = StringIO.new }.tap { Pelton.logger.error("two") }.rewind
      puts $stderr.string
    RUBY
  end

  def test_a_logger_is_used_as_it_is
    logger = Logger.new(StringIO.new)
    Pelton.logger = logger

    assert_same logger, Pelton.logger
  end

  def test_any_object_with_write_is_written_to
    device = StringIO.new
    Pelton.logger = device
    Pelton.logger.warn("text")

    assert_equal "pelton: text\n", device.string
  end

  # Where each request is a line of JSON, errors are as well.
  def test_lines_of_json
    device = StringIO.new
    Pelton.logger = device

    assert Pelton.log_json
    Pelton.logger.error("one\ntwo \xff")
    line = JSON.parse(device.string)

    assert_equal ["error", "one\ntwo \ufffd"], line.values_at("level", "message")
    assert_match(/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/, line["time"])
    assert_equal 1, device.string.lines.size
  end

  def test_a_logger_of_the_programs_own_writes_as_it_does
    device = StringIO.new
    Pelton.logger = Logger.new(device, formatter: ->(*, message) { "own #{message}" })

    refute Pelton.log_json
    Pelton.logger.error("text")

    assert_equal "own text", device.string
  end

  def test_nil_is_silence
    Pelton.logger = nil

    assert_silent { Pelton.logger.error("nothing") }
  end

  def test_other_things_are_refused
    assert_match(/give a Logger/, assert_raises(ArgumentError) { Pelton.logger = 1 }.message)
  end

  def test_errors_that_nobody_rescued_are_logged
    device = StringIO.new
    Pelton.logger = device
    Pelton.run { Pelton.next_tick { raise "lost" } }

    assert_match(/\Apelton: unhandled error\n.*lost \(RuntimeError\)/, device.string)
  end

  # The watchdog writes to a duplicate of the descriptor: the system may give the number of a closed descriptor to
  # another file.
  def test_a_closed_io_is_not_confused_with_another_file_of_its_number
    assert_equal "9\n:wait_readable\n", ruby_output(<<~RUBY)
      require "pelton"
      Pelton.watchdog = 0.005
      log, writer = IO.pipe
      Pelton.logger = writer
      Pelton.on_stall {}
      number = writer.fileno
      writer.close
      reader, other = IO.pipe
      other.fcntl(0, number) # duplicates it to the free number
      Pelton.run { Fiber.new(blocking: true) { IO.select([log]) }.resume }
      p log.read_nonblock(9).size, reader.read_nonblock(1, exception: false)
    RUBY
  end
end
