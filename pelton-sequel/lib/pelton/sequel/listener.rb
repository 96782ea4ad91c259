# frozen_string_literal: true

require_relative "error"
require_relative "limit"

module Pelton
  module Sequel
    # Receives messages of {Sequel.notify} on a separate connection. When the connection is lost it opens a new one,
    # retrying with growing pauses.
    # @private
    class Listener
      include Opaque

      PAUSES = [0.1, 0.5, 1, 2, 5, 10, 30].freeze # seconds before each attempt
      CHECK_EVERY = 30 # seconds without a message before the connection is checked

      # @param database [Sequel::Database] PostgreSQL
      # @param channels [Array<String>]
      def initialize(database, channels, pauses: PAUSES, check_every: CHECK_EVERY, &block)
        @database = database
        @channels = channels
        @pauses = pauses
        @check_every = check_every
        @block = block
      end

      # Receives until its fiber is cancelled.
      # @asynchronous
      def run
        attempts = 0
        begin
          receive { attempts = 0 }
        rescue ::Sequel::Error, Pelton::Error, PG::Error, SystemCallError, IOError => error
          pause = @pauses[[attempts, @pauses.size - 1].min]
          attempts += 1
          Pelton.logger.warn("listening to #{@channels.join(", ")}: #{error.message.lines.first&.strip}; the next " \
            "attempt is in #{pause} s")
          sleep(pause * (0.75 + rand * 0.5))
          retry
        end
      end

      private

      def receive
        connection = limited { @database.connect(:default) }
        @channels.each { |channel| limited { connection.async_exec("LISTEN #{connection.quote_ident(channel)}") } }
        yield
        until connection.finished? # `loop` would rescue a StopIteration of user code, such as Pelton.on_error's block
          heard = connection.wait_for_notify(@check_every) { |channel, _, payload| hand_on(payload.to_s, channel) }
          limited { connection.async_exec("SELECT 1") } unless heard
        end
      ensure
        connection&.finish
      end

      def limited(&block)
        Sequel.limit(@database.pool.timeout, ConnectionError, "no answer within #{@database.pool.timeout} s", &block)
      end

      def hand_on(payload, channel)
        @block.call(payload, channel)
      rescue => error
        Pelton.report_error(error)
      end
    end

    MAX_PAYLOAD = 7999 # bytes: PostgreSQL's limit
    private_constant :MAX_PAYLOAD

    class << self
      # Calls the block with messages that any process sends to the channels by {notify}, on PostgreSQL. A task waits
      # for them on a connection outside the pool, which is reopened when lost; messages sent in between are lost. They
      # come in order, one at a time. The block may wait; its errors go to Pelton.on_error.
      #
      # @param channels [Array<String>]
      # @param database [Sequel::Database] as {connect} returned it; by default the models' (Sequel::Model.db)
      # @yieldparam payload [String]
      # @yieldparam channel [String]
      # @return [Task] cancel it to stop. It does not keep Pelton.run running
      # @raise [ConfigurationError] if the database is not PostgreSQL
      # @raise [Sequel::Error] if no database is connected
      # @raise [NotRunningError] outside Pelton.run
      # @raise [ArgumentError] without a block or a channel
      def listen(*channels, database: ::Sequel::Model.db, &block)
        raise ArgumentError, "listen needs a channel, and a block for its messages" if channels.empty? || !block
        must_notify(database)
        listener = Listener.new(database, channels.map(&:to_s), &block)
        Pelton.spawn(name: "listen to #{channels.join(", ")}", transient: true) { listener.run }
      end

      # Sends a message to all processes that {listen} to the channel, on PostgreSQL. Inside a transaction it is sent by
      # the commit.
      #
      # @param channel [String]
      # @param payload [String] at most 7999 bytes
      # @param database [Sequel::Database] as {connect} returned it; by default the models' (Sequel::Model.db)
      # @return [void]
      # @raise [ConfigurationError] if the database is not PostgreSQL
      # @raise [LimitError] if the payload is too long
      # @asynchronous
      def notify(channel, payload = "", database: ::Sequel::Model.db)
        must_notify(database)
        if payload.bytesize > MAX_PAYLOAD
          raise LimitError, "a payload has #{MAX_PAYLOAD} bytes at most, not #{payload.bytesize}: send a key, and " \
            "keep the rest in a table"
        end
        database.dataset.server(:default).get(::Sequel.function(:pg_notify, channel.to_s, payload).as(:sent))
        nil
      end

      private

      def must_notify(database)
        return if database.database_type == :postgres
        raise ConfigurationError, "listen and notify need PostgreSQL, not #{database.database_type}"
      end
    end
  end
end
