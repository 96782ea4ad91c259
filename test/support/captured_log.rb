# frozen_string_literal: true

require "stringio"

# What a test logs is kept from the terminal, and can be read.
module CapturedLog
  def setup
    super
    @logger, Pelton.logger = Pelton.logger, @log = StringIO.new
  end

  def teardown
    Pelton.logger = @logger
    super
  end

  # @return [String]
  def log = @log.string
end
