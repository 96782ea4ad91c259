# frozen_string_literal: true

require "fileutils"
require "optparse"
require_relative "../sequel"
require_relative "migrations"

module Pelton
  module Sequel
    # The command line, `pelton db COMMAND`.
    class Command
      USAGE = <<~TEXT
        usage: pelton db COMMAND [options]

          create           create the database
          drop             remove the database, with all its data
          migrate          apply the pending migrations, and write the schema (not if RACK_ENV is production)
          rollback [STEPS] take the last migrations back
          status           show which migrations are applied
          schema           write the schema
          schema load      make the tables of the schema in an empty database
          seed             run the seeds
          console          start irb with the database as DB

        The database is the one of --database, of DATABASE_URL, or that config/database.rb names by Pelton::Sequel.address=.

        options:
      TEXT
      COMMANDS = %w[create drop migrate rollback status schema seed console].freeze
      REPORT_EVERY = 5 # seconds of a long migration

      # @param arguments [Array<String>]
      # @return [Integer] the exit status: 0; 1 if the command failed; 2 if the arguments are wrong
      def self.run(arguments, out: $stdout, error: $stderr) = new(out, error).run(arguments)

      def initialize(out, error)
        @out = out
        @error = error
        @address = ENV["DATABASE_URL"]
        @folder = "db/migrate"
        @schema = "db/schema.rb"
        @seeds = "db/seeds.rb"
        @config = "config/database.rb"
        @features = []
        @wait = Migrations::Lock::TIMEOUT
      end

      # @param arguments [Array<String>]
      # @return [Integer]
      def run(arguments)
        command, *rest = parser.parse(arguments)
        return help(0, @out) if @help
        return help(2, @error, command && "pelton db: no command #{command.inspect}") unless COMMANDS.include?(command)
        begin
          @address ||= configured
          unless @address
            return help(2, @error, "pelton db: the address of the database is missing: set it in #{@config} or " \
              "DATABASE_URL, or use --database")
          end
          send(command, *rest)
          0
        rescue Pelton::Error, ::Sequel::Error, SystemCallError => problem
          @error.puts("pelton db #{command}: #{problem.message}")
          1
        end
      rescue OptionParser::ParseError, ArgumentError => problem
        help(2, @error, "pelton db: #{problem.message}")
      ensure
        Sequel.disconnect
      end

      private

      def parser
        @parser ||= OptionParser.new(USAGE) do |options|
          options.on("-d", "--database ADDRESS", "its address; otherwise DATABASE_URL") { |address| @address = address }
          options.on("-c", "--config FILE", "sets Pelton::Sequel.address; otherwise #{@config}") do |file|
            @config = file
          end
          options.on("--migrations FOLDER", "otherwise #{@folder}") { |folder| @folder = folder }
          options.on("--schema FILE", "otherwise #{@schema}") { |file| @schema = file }
          options.on("--seeds FILE", "otherwise #{@seeds}") { |file| @seeds = file }
          options.on("-r", "--require FILE", "load it before seed and console: the program's models") do |file|
            @features << file
          end
          options.on("--wait SECONDS", Float, "for another process that migrates; otherwise #{@wait}") do |seconds|
            @wait = seconds
          end
          options.on("--retry", "run a migration again that was killed half-way") { @retry = true }
          options.on("--force", "drop the database even if RACK_ENV is production") { @force = true }
          options.on("-h", "--help", "show this") { @help = true }
        end
      end

      def help(status, to, complaint = nil)
        to.puts(complaint, "") if complaint
        to.puts(parser.help)
        status
      end

      # Loads the application's config/database.rb.
      def configured
        return unless File.file?(@config)
        before, Sequel.address = Sequel.address, nil
        load(File.expand_path(@config))
        Sequel.address
      rescue SyntaxError, StandardError => problem
        raise if problem.is_a?(Pelton::Error)
        line = problem.backtrace_locations&.find { |one| one.absolute_path == File.expand_path(@config) }&.lineno
        raise ConfigurationError,
          "#{@config}#{":#{line}" if line} cannot be loaded: #{problem.message} (#{problem.class})"
      ensure
        Sequel.address = before
      end

      # Connects and runs the block in a reactor, so that long statements do not stop the progress report.
      def connected(address = @address)
        Sequel.disconnect # a previous command may have connected
        Pelton.run { Watchdog.quietly { yield Sequel.connect(address, pool: 1) } } # nothing else waits for the loop
      end

      def migrations(database)
        Migrations.new(database, @folder, timeout: @wait, retry_unfinished: @retry,
          waiting: ->(holder) { @out.puts("waits for another process that migrates: #{holder}") })
      end

      def create
        address = Address.new(@address)
        case address.driver
        when :sqlite then FileUtils.mkdir_p(File.dirname(address.options[:database])).then do
          connected { |database| database.tables }
        end
        else create_on_server(address)
        end
        @out.puts("#{address} is there")
      end

      def create_on_server(address)
        connected(neighbour(address)) do |database|
          charset = " CHARACTER SET utf8mb4" if address.driver == :mysql # the server's default may be latin1
          database.run("CREATE DATABASE #{database.literal(::Sequel.identifier(address.options[:database]))}#{charset}")
        rescue ::Sequel::DatabaseError => error
          raise unless error.message.match?(/exists/)
        end
      end

      # The address of a database that every server has.
      def neighbour(address)
        @address.sub(%r{(//[^/]*/)[^?]*},
          "\\1#{{postgres: "postgres", mysql: "information_schema"}.fetch(address.driver)}")
      end

      def drop
        if production? && !@force
          raise ConfigurationError, "RACK_ENV is production: with --force the database is dropped all the same"
        end
        address = Address.new(@address)
        dropped = (address.driver == :sqlite) ? drop_file(address) : drop_on_server(address)
        @out.puts(dropped ? "#{address} is dropped" : "#{address} is not there")
      end

      # Keeps the file while a migration runs.
      def drop_file(address)
        file = address.options[:database]
        return false if address.memory? || !File.file?(file)
        connected do |database|
          Migrations::Lock.for(database, timeout: @wait).hold do
            Dir["#{file}{,-wal,-shm}"].each { |path| File.delete(path) }
          end
        end
        FileUtils.rm_f(%W[#{file}-wal #{file}-shm])
        true
      end

      def drop_on_server(address)
        connected(neighbour(address)) do |database|
          name = address.options[:database]
          drop = -> { database.run("DROP DATABASE #{database.literal(::Sequel.identifier(name))}") }
          if address.driver == :mysql
            Migrations::Lock.for(database, timeout: @wait, name: name).hold(&drop)
          else
            drop.call
          end
          true
        rescue ::Sequel::DatabaseError => error
          raise unless error.message.match?(/does not exist|doesn't exist/)
          false
        end
      end

      def migrate
        connected do |database|
          all = migrations(database)
          all.exclusively do
            done = timed { |progress| all.migrate(&progress) }
            @out.puts(done.empty? ? "no migration is pending" : "#{done.size} migrated")
            write_schema(database) unless production?
          end
        end
      end

      def rollback(steps = "1")
        count = Integer(steps, exception: false)
        raise ArgumentError, "the number of migrations to take back is 1 or more, not #{steps}" unless count&.positive?
        connected do |database|
          all = migrations(database)
          all.exclusively do
            done = timed { |progress| all.rollback(count, &progress) }
            @out.puts(done.empty? ? "no migration is applied" : "#{done.size} taken back")
            write_schema(database) unless production?
          end
        end
      end

      def status
        connected do |database|
          all = migrations(database)
          applied = all.applied
          unfinished = all.unfinished
          (all.names | applied).sort_by(&:to_i).each do |name|
            missing = ", but its file is gone" unless all.names.include?(name)
            killed = ", and has begun and not ended" if name == unfinished
            @out.puts("#{name}: #{applied.include?(name) ? "applied#{missing}" : "pending"}#{killed}")
          end
        end
      end

      def seed
        raise ConfigurationError, "there is no #{@seeds}" unless File.file?(@seeds)
        connected do
          load_features
          load(File.expand_path(@seeds))
        end
        @out.puts("#{@seeds} has run")
      end

      def schema(what = "dump")
        unless %w[dump load].include?(what)
          raise ArgumentError, "schema writes the file, schema load reads it; there is no schema #{what}"
        end
        connected do |database|
          next load_schema(database) if what == "load"
          write_schema(database) || @out.puts("#{@schema} is as the database")
        end
      end

      def load_schema(database)
        applied = Migrations::Lock.for(database, timeout: @wait).hold { Migrations::Schema.new(database, @schema).load }
        @out.puts("#{@schema} is loaded, with #{applied.size} migrations")
      end

      # Runs outside a reactor: irb reads the terminal, and its queries may block.
      def console
        database = Sequel.connect(@address, pool: 1)
        load_features
        Object.const_set(:DB, database) unless Object.const_defined?(:DB) # the program's own
        load_irb
        ARGV.clear
        IRB.start
      end

      def load_irb
        require "irb"
      rescue LoadError => error
        raise unless error.path == "irb"
        raise ConfigurationError,
          "the console needs irb, which Ruby 4.0 has as a gem only: add gem \"irb\" to the Gemfile", cause: nil
      end

      def load_features = @features.each { |file| require File.expand_path(file) }

      # The schema belongs in the repository; a deployed program's folder may be read-only.
      def production? = ENV["RACK_ENV"] == "production"

      def write_schema(database)
        written = Migrations::Schema.new(database, @schema).write
        @out.puts("#{@schema} is written") if written
        written
      end

      # Reports each migration, and every few seconds how long it has taken.
      def timed
        name = started = nil
        timer = Pelton.add_periodic_timer(REPORT_EVERY) do
          @out.puts("  #{name}: #{(Clock.now - started).round} s") if name
        end
        yield(lambda do |event, current|
          if event == :begun
            name, started = current, Clock.now
            @out.puts("#{name} ...")
          else
            @out.puts("#{name}: done in #{format("%.2f", Clock.now - started)} s")
            name = nil
          end
        end)
      ensure
        timer&.cancel
      end
    end
  end
end
