# frozen_string_literal: true

# Shared by the tests of Ruby's own ways to wait.
module Scheduling
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
