# frozen_string_literal: true

require_relative "../sequel"

module Pelton
  module Sequel
    # Runs each test in a transaction of each connected database, which is rolled back at its end. All fibers of the
    # test share that connection, so a server in the test sees the test's rows.
    #
    #     class UserTest < Minitest::Test
    #       include Pelton::Sequel::Test
    #     end
    #
    #     RSpec.configure do |config|
    #       config.around { |example| Pelton::Sequel::Test.rollback { example.run } }
    #     end
    #
    # The program's transactions become savepoints, and its after_commit callbacks run.
    module Test
      # Adds to a pool: a single connection, whose transaction is rolled back at the end.
      # @private
      module Pool
        # Begins the test's transaction.
        def enter
          slot = @default.take(Fiber.current)
          @outside = [@shards, @default, slot]
          @ready = slot.connection
          @shards = {default: @default = Pelton::Sequel::Pool::Shard.new(self, :default, 1, @timeout, Float::INFINITY)}
          hold { nil }
        end

        # Rolls back, and gives the connections back.
        def leave
          hold { |connection| @db.send(:log_connection_execute, connection, "ROLLBACK") }
          inside = @default
          @shards, @default, slot = @outside
          @outside = nil
          return replace(inside, slot) unless @slots.key?(slot.connection)
          @slots[slot.connection] = slot
          @default.give(slot)
        end

        # @return [Boolean]
        def entered? = !@outside.nil?

        # A lost connection is replaced by a new one, with a new transaction.
        def open(slot, server)
          return super unless entered?
          slot.connection, @ready = @ready, nil
          slot.connection ? @slots[slot.connection] = slot : super
          slot.opened = Clock.now
          @db.send(:log_connection_execute, slot.connection, "BEGIN")
        end

        private

        def replace(inside, slot)
          inside.disconnect
          slot.connection = nil
          @default.give(slot)
        end
      end

      # Makes the program's transactions savepoints.
      # @private
      module Database
        private

        def begin_new_transaction(connection, options)
          inner?(connection) ? log_connection_execute(connection, "SAVEPOINT pelton_test") : super
        end

        def commit_transaction(connection, options = ::Sequel::OPTS)
          inner?(connection) ? log_connection_execute(connection, "RELEASE SAVEPOINT pelton_test") : super
        end

        def rollback_transaction(connection, options = ::Sequel::OPTS)
          return super if !inner?(connection) || pool.slot_of(connection)&.spoiled
          log_connection_execute(connection, "ROLLBACK TO SAVEPOINT pelton_test")
        end

        def inner?(connection) = pool.entered? && savepoint_level(connection) <= 1
      end

      class << self
        # Runs the block in a transaction of each connected database, and rolls them back.
        #
        # @return the block's value
        # @raise [ConfigurationError] if no database is connected
        # @raise [PoolTimeoutError] if a task of the test still holds the connection
        # @asynchronous
        def rollback
          enter
          yield
        ensure
          leave
        end

        # @private
        def enter
          if Sequel.databases.empty?
            raise ConfigurationError, "no database is connected: call Pelton::Sequel.connect first"
          end
          Sequel.databases.each do |database|
            database.pool.extend(Test::Pool)
            database.extend(Test::Database)
            database.pool.enter
          end
        end

        # @private
        def leave
          Sequel.databases.each do |database|
            database.pool.leave if database.pool.is_a?(Test::Pool) && database.pool.entered?
          end
        end
      end

      # Called by Minitest around each test.
      # @private
      def before_setup
        Test.enter
        super
      end

      # @private
      def after_teardown
        super
      ensure
        Test.leave
      end
    end
  end
end
