# frozen_string_literal: true

module Pelton
  # Makes a logger of the argument of Pelton.logger=.
  module Log
    # The object that is $stderr at the time of each message.
    module Standard
      def self.write(text) = $stderr.write(text)

      def self.close = nil
    end

    FORMAT = ->(_severity, _time, _program, message) { "pelton: #{message.to_s.chomp}\n" }
    # One line for each message, as HTTP::JSONLog has one for each request.
    JSON_FORMAT = lambda do |severity, time, _program, message|
      text = message.to_s.chomp.dup.force_encoding(Encoding::UTF_8).scrub
      line = {time: time.utc.strftime("%FT%T.%LZ"), level: severity.downcase, message: text}
      "#{JSON.generate(line, ascii_only: true)}\n"
    end

    def self.to(device)
      require "logger" # here, because a program that logs nothing does not need it
      ::Logger.new(device, formatter: FORMAT)
    end

    # @return [Boolean] whether the logger is one of {to}, and not the program's own
    def self.json(logger)
      return false unless logger.respond_to?(:formatter) && logger.formatter.equal?(FORMAT)
      require "json"
      logger.formatter = JSON_FORMAT
      true
    end

    def self.for(logger)
      if logger.is_a?(IO) && logger.fileno == 2
        to(Standard)
      elsif logger.nil? || !logger.respond_to?(:error) && logger.respond_to?(:write)
        to(logger)
      elsif logger.respond_to?(:error)
        logger
      else
        raise ArgumentError, "#{logger.inspect} cannot be the logger: give a Logger, an IO or nil"
      end
    end
  end
  private_constant :Log

  class << self
    # Pelton logs unhandled errors and stalls of the loop. The default logger writes to $stderr.
    #
    # @return [Logger] or the object given to {logger=}
    def logger = @logger ||= Log.to(Log::Standard)

    # @param logger [Logger, IO, nil] an object with the methods of Ruby's Logger, or one with `write`; nil logs
    #   nothing. While a stall lasts, the watchdog writes to the descriptor of an IO, to standard error for a Logger,
    #   and nowhere for nil
    # @raise [ArgumentError] for any other object
    def logger=(logger)
      @logger = Log.for(logger)
      Watchdog.report_to(logger)
    end

    # Makes the lines of the logger JSON, unless the program has set a Logger of its own.
    #
    # @private
    def log_json = Log.json(logger)
  end
end
