# frozen_string_literal: true

module Pelton
  module Sequel
    # Raised if the database cannot be reached: the server does not answer, or refuses or ends the connection. SQL
    # errors are Sequel's classes, such as Sequel::UniqueConstraintViolation.
    class ConnectionError < Pelton::ConnectionError
    end

    # Raised if the address or an option of {Sequel.connect} is invalid, or the driver is not installed. Retrying does
    # not help.
    class ConfigurationError < Pelton::Error
    end

    # Raised if no connection of the pool came free in time. The message names the holders.
    class PoolTimeoutError < Pelton::TimeoutError
    end

    # Raised if a fiber uses a connection that another fiber holds.
    class SharedConnectionError < Pelton::Error
    end
  end
end
