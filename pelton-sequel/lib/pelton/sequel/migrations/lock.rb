# frozen_string_literal: true

require "socket"

module Pelton
  module Sequel
    class Migrations
      # Lets one process at a time change a database. The lock ends with its process, however that ends.
      # @private
      class Lock
        TIMEOUT = 300 # seconds to wait for another process
        # seconds. A session that waited inside the database would block CREATE INDEX CONCURRENTLY in the holder's
        # migration
        POLL = 0.2

        # @param database [Sequel::Database]
        # @param timeout [Numeric] seconds
        # @param name [String, nil] another database on the same MySQL server
        # @return [Lock] for the database's type
        def self.for(database, timeout: TIMEOUT, name: nil)
          {postgres: Postgres, mysql: MySQL}.fetch(database.database_type, SQLite).new(database, timeout, name)
        end

        def initialize(database, timeout, name = nil)
          @database = database
          @timeout = timeout
          @database_name = name
        end

        # Calls the block while this process holds the lock.
        #
        # @param waiting [#call, nil] called once with the holder's description, if another process has the lock
        # @return the block's value
        # @raise [Failed] if the lock does not come free in time
        # @asynchronous
        def hold(waiting: nil, &block)
          return yield if @held
          start = Clock.now
          value = nil
          until attempt { value = keep(&block) }
            holder = describe
            if Clock.now - start >= @timeout
              raise Failed, "another process migrates this database: #{holder}. It has not ended within #{@timeout} " \
                "s: wait for it, or end it"
            end
            waiting&.call(holder)
            waiting = nil
            sleep(POLL)
          end
          value
        end

        private

        def keep
          @held = true
          yield
        ensure
          @held = false
        end

        def describe = holder || "it has just ended, or cannot be seen"

        # A file next to the database, locked by the operating system. It is removed at the end; one left by a killed
        # process is reused.
        class SQLite < Lock
          private

          def path
            @path ||= @database.opts[:database].to_s.then do |name|
              "#{name}-migrating" unless name.empty? || name == ":memory:"
            end
          end

          def attempt
            return yield || true unless path
            File.open(path, File::RDWR | File::CREAT, 0o644) do |file|
              next false unless file.flock(File::LOCK_EX | File::LOCK_NB) && same?(file)
              file.truncate(0)
              file.write("process #{Process.pid} on #{Socket.gethostname}, since #{Time.now.round}\n")
              file.flush
              begin
                yield
              ensure
                File.delete(path)
              end
              true
            end
          end

          # Whether the path still leads to this file.
          def same?(file)
            File.stat(path).ino == file.stat.ino
          rescue Errno::ENOENT
            false
          end

          def holder
            text = File.read(path).strip
            text unless text.empty?
          rescue Errno::ENOENT
            nil
          end
        end

        # A lock that belongs to a database session.
        class Session < Lock
          private

          # Migrations use the connection that holds the lock, so none continues when it is lost.
          def attempt
            @database.synchronize do
              next false unless take
              begin
                yield
              ensure
                release
              end
              true
            end
          end

          def release
            unlock
          rescue ::Sequel::Error, Pelton::Error
            nil # the session and its lock have ended
          end
        end

        # The lock of Sequel's own migrator with `use_advisory_lock`.
        class Postgres < Session
          KEY = 4966325471869609408

          private

          def take = @database.get(::Sequel.function(:pg_try_advisory_lock, KEY))

          def unlock = @database.get(::Sequel.function(:pg_advisory_unlock, KEY))

          def holder
            row = @database[:pg_locks].join(:pg_stat_activity, pid: :pid)
              .where(locktype: "advisory", granted: true, classid: KEY >> 32,
                objid: KEY & 0xffffffff, datname: ::Sequel.function(:current_database))
              .get([::Sequel[:pg_stat_activity][:pid], :application_name, :client_addr, :client_port, :backend_start])
            return unless row
            pid, program, host, port, since = row
            "the session #{pid} of #{[program, host && "#{host}:#{port}"].compact.reject(&:empty?).join(" at ")}, " \
            "since #{since}"
          end
        end

        # Such locks' names apply to the whole server.
        class MySQL < Session
          private

          def name = @name ||= "pelton db #{@database_name || @database.get(::Sequel.function(:database))}"[0, 64]

          def take = @database.get(::Sequel.function(:get_lock, name, 0)) == 1

          def unlock = @database.get(::Sequel.function(:release_lock, name))

          def holder
            row = @database[::Sequel[:information_schema][:processlist]].where(id: ::Sequel.function(:is_used_lock,
              name)).first or return
            "the session #{row[:ID] || row[:id]} of #{row[:USER] || row[:user]} at #{row[:HOST] || row[:host]}"
          end
        end
      end
    end
  end
end
