# frozen_string_literal: true

module Pelton
  module Database
    # The database cannot be used: its address is wrong, nobody answers there, or a driver is missing. SQL's own errors are Sequel's
    # classes, for example Sequel::UniqueConstraintViolation.
    class ConnectionError < Pelton::ConnectionError
    end

    # The address or an option of {Database.connect} cannot be understood, or its driver is not installed. Trying again does not help.
    class ConfigurationError < Pelton::Error
    end

    # No connection of the pool came free in time. The message names who holds them.
    class PoolTimeoutError < Pelton::TimeoutError
    end

    # A connection was used by a fiber that does not hold it.
    class SharedConnectionError < Pelton::Error
    end
  end
end
