# frozen_string_literal: true

require "pelton/sequel"
require_relative "ledger"

module DatabaseAudit
  # Many fibers write rows, singly and in transactions, with limits and cancellations, until stdin ends. What the
  # database has acknowledged is written to the journal at once, so that it is known when this process is killed, and
  # how each operation has ended.
  class Load
    FIBERS = 24
    POOL = 8
    ATTEMPTS = 50 # to use the whole pool
    SPARE = 4 # descriptors: SQLite keeps those of closed connections for the next ones
    REMEMBERED = 1000 # entries that are looked for
    KINDS = %i[entry entry transfer transfer by_savepoints limited cancelled reading echo finding finding].freeze
    FAILURES = [Pelton::TimeoutError, Pelton::ConnectionError, Pelton::Cancelled, Sequel::DatabaseError].freeze

    # @param first [Integer] the number of the first operation
    # @param deadline [Float] seconds for each operation
    def initialize(address, journal, first:, seed:, deadline:)
      @journal = journal
      @deadline = deadline
      @number = first
      @random = Random.new(seed + first)
      @database = connect(address)
      @ledger = Ledger.new(@database)
      @entries = []
    end

    def run
      Pelton.run do
        use_all_connections # so that all descriptors are open that will be
        before = descriptors
        @longest = 0
        writers = Array.new(FIBERS) { |i| Pelton.spawn(name: "writer #{i}") { write until @stopping } }
        $stdin.read
        @stopping = true
        writers.each(&:await)
        check_pool(before)
      end
      note("longest", @longest.round(2))
    end

    private

    # This process may begin in the middle of a fault.
    def connect(address)
      Pelton::Sequel.connect(address, pool: POOL, timeout: @deadline)
    rescue Pelton::ConnectionError, Pelton::TimeoutError
      sleep 0.1
      retry
    end

    def write
      id = @number += 1
      kind = KINDS.sample(random: @random)
      start = Pelton::Clock.now
      Pelton.timeout(@deadline) { __send__(kind, id) }
      note("done", kind)
    rescue *FAILURES => error
      note("failed", error.class)
    rescue => error
      problem("#{error.class}: #{error.message.lines.first.strip}, #{error.backtrace.first}")
    ensure
      @longest = [@longest, Pelton::Clock.now - start].max
      sleep(@random.rand(0.02))
    end

    def entry(id)
      @ledger.enter(id)
      note("entry", id)
      @entries[id % REMEMBERED] = id
    end

    def transfer(id)
      @ledger.transfer(id)
      note("transfer", id)
    end

    def by_savepoints(id)
      @ledger.transfer_by_savepoints(id)
      note("transfer", id)
    end

    def limited(id) = Pelton.timeout(@random.rand(0.02)) { transfer(id) }

    def cancelled(id)
      task = Pelton.spawn { transfer(id) }
      sleep(@random.rand(0.02))
      task.cancel
      task.await
    end

    def reading(_id)
      problem("a reader saw half a transaction") unless @ledger.balanced?
    end

    # Rows of an interrupted query must not come to the next one.
    def echo(id)
      answer = Pelton.timeout(@random.rand(0.005)) { @ledger.echo(id) }
      problem("a reader got the rows of another one") unless answer == id
    end

    # Finds of different fibers are one query.
    def finding(_id)
      id = @entries.compact.sample(random: @random) or return
      found = Pelton.timeout(@random.rand(0.02)) { model[id]&.id }
      problem("a reader looked for the entry #{id} and found #{found.inspect}") unless found == id
    end

    # Made on first use: it asks the database for its columns.
    def model = @model ||= Class.new(Sequel::Model(@database[:entries])) { plugin :pelton_merging }

    def note(kind, value) = @journal.syswrite("#{kind} #{value}\n")

    def problem(text) = note("problem", text)

    # The faults are over: each connection is usable, and nothing is left of the work.
    def check_pool(descriptors_before)
      use_all_connections
      @database.pool.shards.each do |name, shard|
        counters = [shard.size, shard.idle, shard.in_use, shard.waiting, shard.holders]
        problem("the pool's counters of #{name} are #{counters}") unless counters == [shard.max, shard.max, 0, 0, []]
      end
      tasks = Pelton.tasks.reject(&:transient?) - [Pelton::Task.current]
      problem("tasks are left: #{tasks.map(&:inspect).join(", ")}") if tasks.any?
      GC.start # closes the sockets of attempts to connect that were given up
      if descriptors > descriptors_before + SPARE
        problem("#{descriptors} descriptors are open; at first there were #{descriptors_before}")
      end
    rescue *FAILURES => error
      problem("the pool has not healed: #{error.message}")
    end

    # Holds all connections of each shard at once, and asks something on each. A fault may just be over.
    def use_all_connections
      attempts = 0
      begin
        @database.pool.shards.each { |name, shard| use_all_of(name, shard.max) }
      rescue *FAILURES
        raise if (attempts += 1) == ATTEMPTS
        sleep 0.1
        retry
      end
    end

    def use_all_of(server, size)
      together = Pelton::Operation.new
      arrived = 0
      Pelton.map((1..size).to_a, concurrency: nil) do
        @database.synchronize(server) do
          together.succeed if (arrived += 1) == size
          together.await(timeout: @deadline)
          @database.dataset.server(server).get(1)
        end
      end
    end

    def descriptors = Dir.children("/proc/self/fd").size
  end
end

if $PROGRAM_NAME == __FILE__
  address, journal, first, seed, deadline = ARGV
  Pelton.logger = nil
  File.open(journal, "a") do |file|
    DatabaseAudit::Load.new(address, file, first: Integer(first), seed: Integer(seed), deadline: Float(deadline)).run
  end
end
