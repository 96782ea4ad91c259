# frozen_string_literal: true

require "timeout"

module Pelton
  module Sequel
    # Like Pelton.timeout, with the caller's error.
    # @private
    # @asynchronous
    def self.limit(seconds, error, message, &block)
      return yield unless seconds
      return Reactor.current.timeout_after(seconds, error, message, &block) if Pelton.running?
      ::Timeout.timeout(seconds, error, message) { yield }
    end
  end
end
