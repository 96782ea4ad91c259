# frozen_string_literal: true

require "pelton/sequel"
require_relative "../support/own_server"
require_relative "client"
require_relative "disk"
require_relative "faults"
require_relative "ledger"

# An audit of a database under faults: many fibers of a process write, while this one freezes, kills and fills what they
# depend on. Afterwards each write that was acknowledged must be there, no transaction half done, and the pool whole.
module DatabaseAudit
  class Audit
    KINDS = %i[postgres mariadb sqlite].freeze

    # @return [Array<String>] what is wrong
    attr_reader :problems

    # @return [Hash{String => Integer}] how many operations had which end; "acknowledged": how many writes
    attr_reader :ends

    # @return [Hash{Symbol => Integer}] how often each fault was made
    attr_reader :faults

    # @return [Float] seconds of the last process' longest operation
    attr_reader :longest

    # @return [Disk, nil] nil where this user may not make a small one
    attr_reader :disk

    # @return [Client]
    attr_reader :client

    # @return [Float] seconds for each operation of the writing process; faults take the fourth part to twice as long
    attr_reader :deadline

    # @param kind [Symbol] one of KINDS
    # @param seconds [Numeric] how long faults are made; each one is made once in any case
    def initialize(kind, seconds:, seed:, deadline: 2.0)
      @kind = kind
      @deadline = deadline
      @seconds = seconds
      @seed = seed
      @problems = []
    end

    # @return [self]
    def run
      in_a_folder do |folder, journal|
        address = start(folder)
        with_database(address) { |database| Ledger.new(database).create }
        @client = Client.new(address, journal, seed: @seed, deadline: @deadline)
        @client.start
        disturb
        @problems << "the writing process has not ended as it should" unless @client.stop
        check(address, @client.journal)
      ensure
        @client&.kill
        @server&.stop
      end
      self
    end

    # Kills the client and starts another one.
    def restart_client
      @client.kill
      @client.start
    end

    private

    # The journal is not on the disk that becomes full.
    def in_a_folder
      user = (@kind == :sqlite) ? Process.uid : OwnServer.user(@kind)
      @disk = Disk.mount(user)
      Dir.mktmpdir("pelton-sequel-audit-") do |folder|
        data = @disk&.folder || File.join(folder, "data").tap { |path| Dir.mkdir(path) }
        yield data, File.join(folder, "journal")
      end
    ensure
      @disk&.unmount
    end

    def start(folder)
      random = Random.new(@seed)
      if @kind == :sqlite
        path = File.join(folder, "audit.db")
        @disturber = FileFaults.new(self, random, path)
        return "sqlite://#{path}"
      end
      @server = OwnServer.new(@kind, folder: folder)
      @disturber = ServerFaults.new(self, random, @server)
      @server.address
    end

    def disturb
      finish = Pelton::Clock.now + @seconds
      while Pelton::Clock.now < finish || @disturber.tally.value?(0)
        sleep 0.2
        @disturber.make
        @client.running? or return @problems << "the writing process has ended by itself"
      end
      sleep 1
      @faults = @disturber.tally
    end

    def check(address, journal)
      acknowledged = %w[entry transfer].to_h { |kind| [kind, journal.fetch(kind, []).map { |id| Integer(id) }] }
      with_database(address) { |database| @problems.concat(Ledger.new(database).problems(acknowledged)) }
      @problems.concat(journal.fetch("problem", []).uniq)
      @ends = {"acknowledged" => acknowledged.values.sum(&:size), **journal.values_at("done", "failed").flatten.tally}
      @longest = journal.fetch("longest").last.to_f
    end

    def with_database(address)
      database = Pelton::Sequel.connect(address, pool: 1, timeout: 30)
      yield database
    ensure
      Pelton::Sequel.disconnect(database) if database
    end
  end
end
