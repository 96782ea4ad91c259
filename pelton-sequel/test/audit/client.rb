# frozen_string_literal: true

require "rbconfig"

module DatabaseAudit
  # The process that writes ({Load}); when it is killed, another one goes on with other numbers.
  class Client
    NUMBERS = 10_000_000 # for each process
    LIBRARIES =
      %w[lib pelton-sequel/lib].map { |folder| File.expand_path("../../../#{folder}", __dir__) }
        .join(File::PATH_SEPARATOR)

    # @param journal [String] a file's path
    def initialize(address, journal, seed:, deadline:)
      @address = address
      @journal = journal
      @seed = seed
      @deadline = deadline
      @runs = 0
    end

    # Returns when it writes.
    def start
      before = written
      @io =
        IO.popen([RbConfig.ruby, "-I", LIBRARIES, File.join(__dir__, "load.rb"), @address, @journal,
          (@runs * NUMBERS).to_s, @seed.to_s, @deadline.to_s], "r+")
      Guard.kill_at_end(@io.pid)
      @runs += 1
      sleep 0.01 until written > before || !running?
    end

    def running? = @io.wait_readable(0).nil?

    def signal(name) = Process.kill(name, @io.pid)

    # Lets it end by itself.
    # @return [Boolean] whether all was well
    def stop
      @io.close_write
      @io.read
      @io.close
      $?.success?
    end

    def kill
      return if @io.nil? || @io.closed?
      signal("KILL")
      @io.close
    end

    # @return [Hash{String => Array<String>}] what all these processes have written, by its kind
    def journal
      File.foreach(@journal, chomp: true).map { |line| line.split(" ", 2) }.group_by(&:first)
        .transform_values { |lines| lines.map(&:last) }
    end

    private

    def written = File.size?(@journal) || 0
  end
end
