# frozen_string_literal: true

# For tests that log events in @log as they happen, and then compare their order.
module EventLog
  def setup
    super
    @log = []
  end

  def teardown
    Pelton.on_error
    Pelton.logger = $stderr
    super
  end

  private

  # Logs the messages of the errors that nobody handles.
  def log_errors = Pelton.on_error { |error| @log << error.message }

  # Logs the name when the block ends, in an ensure block that waits.
  def ensuring(name)
    yield
  ensure
    Pelton.run { sleep 0.001 }
    @log << name
  end

  # Logs the class of an exception that the block raises.
  def logging_exceptions
    yield
  rescue Exception => error # standard:disable Lint/RescueException
    @log << error.class
    raise if error.is_a?(Pelton::Cancelled)
  end
end
