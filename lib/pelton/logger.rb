# frozen_string_literal: true

module Pelton
  # Makes loggers of what Pelton.logger= is given.
  module Log
    # $stderr, whatever it is at that moment.
    module Standard
      def self.write(text) = $stderr.write(text)

      def self.close = nil
    end

    FORMAT = ->(_severity, _time, _program, message) { "pelton: #{message.to_s.chomp}\n" }

    def self.to(device)
      require "logger" # here: a program that logs nothing does without it
      ::Logger.new(device, formatter: FORMAT)
    end

    def self.for(logger)
      if logger.is_a?(IO) && logger.fileno == 2
        to(Standard)
      elsif logger.nil? || !logger.respond_to?(:error) && logger.respond_to?(:write)
        to(logger)
      elsif logger.respond_to?(:error)
        logger
      else
        raise ArgumentError, "a logger has the methods of Ruby's Logger, or is an IO, or nil: #{logger.inspect}"
      end
    end
  end
  private_constant :Log

  class << self
    # What Pelton has to say: errors that nobody rescued, and stalls of the loop. Writes to $stderr by default.
    #
    # @return [Logger] or what {logger=} was given
    def logger = @logger ||= Log.to(Log::Standard)

    # @param logger [Logger, IO, nil] an object with the methods of Ruby's Logger, or something to write to; nil: silence.
    #   The watchdog reports a stall while it lasts on the descriptor of an IO, on standard error for a Logger, and
    #   nowhere for nil.
    # @raise [ArgumentError] for anything else
    def logger=(logger)
      @logger = Log.for(logger)
      Watchdog.report_to(logger)
    end
  end
end
