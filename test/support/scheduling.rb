# frozen_string_literal: true

require "socket"

# Shared by the tests of Ruby's own ways to wait.
module Scheduling
  # Before a test: @here and @there, the two ends of a socket.
  def setup
    super
    @here, @there = UNIXSocket.pair
  end

  def teardown
    [@here, @there].each(&:close)
    super
  end

  private

  # Runs the block in a reactor, and beside it `release`, which lets the block go on.
  def beside(release)
    Pelton.run do
      Pelton.spawn(&release)
      yield
    end
  end

  def buffer_of(bytes)
    verbose, $VERBOSE = $VERBOSE, nil # IO::Buffer is experimental, and Ruby warns of that
    IO::Buffer.new(bytes)
  ensure
    $VERBOSE = verbose
  end
end
