# frozen_string_literal: true

# What the tests of Ruby's own ways to wait have in common.
module Scheduling
  private

  # Runs the block in a reactor, and meanwhile the other, which lets it go on.
  def beside(release)
    Pelton.run do
      Pelton.spawn(&release)
      yield
    end
  end

  def buffer_of(bytes)
    verbose, $VERBOSE = $VERBOSE, nil # it is experimental, and says so
    IO::Buffer.new(bytes)
  ensure
    $VERBOSE = verbose
  end
end
