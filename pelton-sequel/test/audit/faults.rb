# frozen_string_literal: true

module DatabaseAudit
  # What happens to a database and to its client, one fault after the other.
  class Faults
    # @return [Hash{Symbol => Integer}] how often each one was made
    attr_reader :tally

    # @param audit [Audit] has the client and the disk
    def initialize(audit, random)
      @audit = audit
      @random = random
      @tally = kinds.to_h { |kind| [kind, 0] }
    end

    # Makes the fault that has been made least often.
    def make
      kind = @tally.min_by { |kind, count| [count, @random.rand] }.first
      @tally[kind] += 1
      __send__(kind)
    end

    private

    def kinds = [:freeze_client, :kill_client, *(:fill_the_disk if @audit.disk)]

    # Shorter than the client's deadlines, or longer.
    def pause = sleep(@audit.deadline * @random.rand(0.25..2))

    def freeze_client
      @audit.client.signal("STOP")
      pause
    ensure
      @audit.client.signal("CONT")
    end

    def kill_client = @audit.restart_client

    def fill_the_disk
      @audit.disk.full { pause }
    end
  end

  # Faults of PostgreSQL and MariaDB.
  class ServerFaults < Faults
    # @param server [OwnServer]
    def initialize(audit, random, server)
      @server = server
      super(audit, random)
    end

    def make
      super
      @server.revive # a full disk ends PostgreSQL
    end

    private

    def kinds = %i[freeze_server restart_server refuse_connections take_all_connections] + super

    def freeze_server
      @server.freeze_it
      pause
    ensure
      @server.thaw
    end

    def restart_server
      @server.kill
      @server.start
    end

    def refuse_connections
      @server.kill
      pause
      @server.start
    end

    # The client's sessions end, and others come first.
    def take_all_connections
      others = []
      admin = @server.connect
      @server.end_sessions(admin)
      @server.max_connections.times { others << @server.connect }
    rescue PG::Error, Trilogy::Error # as many as it lets in
      pause
    ensure
      [*others, *admin].each(&:close)
    end
  end

  # Faults of SQLite's file.
  class FileFaults < Faults
    # @param path [String] of the database's file
    def initialize(audit, random, path)
      @path = path
      super(audit, random)
    end

    private

    def kinds = [:lock, :lock_and_die] + super

    def lock
      other = locked
      pause
    ensure
      other&.close
    end

    # A process that is killed in the middle of its transaction.
    def lock_and_die
      reader, writer = IO.pipe
      pid = fork do
        database = locked
        database.execute("INSERT INTO entries VALUES (-1)")
        writer.puts
        sleep
      ensure
        exit!(0)
      end
      writer.close
      reader.gets
      pause
    ensure
      Process.kill("KILL", pid)
      Process.wait(pid)
      reader.close
    end

    # The client's writers take turns, so the lock is free for moments only, which SQLite's own wait of 100 ms would
    # miss.
    def locked
      database = Extralite::Database.new(@path)
      finish = Pelton::Clock.now + 20
      begin
        database.execute("BEGIN IMMEDIATE")
      rescue Extralite::BusyError
        raise if Pelton::Clock.now > finish
        sleep 0.0005
        retry
      end
      database
    end
  end
end
