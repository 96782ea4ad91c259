# frozen_string_literal: true

require "fileutils"
require "optparse"
require_relative "../record"
require_relative "migrations"

module Pelton
  module Record
    # The command line, `pelton db COMMAND`.
    class Command
      USAGE = <<~TEXT
        usage: pelton db COMMAND [options]

          create           create the database
          migrate          apply the pending migrations, and write the schema (not if RACK_ENV is production)
          rollback [STEPS] take the last migrations back
          status           show which migrations are applied
          seed             run the seeds
          schema           write the schema
          console          start irb with the database as DB

        options:
      TEXT
      REPORT_EVERY = 5 # seconds of a long migration

      # @param arguments [Array<String>]
      # @return [Integer] the exit status: 0, 1 when the command failed, 2 when the arguments are wrong
      def self.run(arguments, out: $stdout, error: $stderr) = new(out, error).run(arguments)

      def initialize(out, error)
        @out = out
        @error = error
        @address = ENV["DATABASE_URL"]
        @folder = "db/migrate"
        @schema = "db/schema.rb"
        @seeds = "db/seeds.rb"
        @features = []
      end

      # @param arguments [Array<String>]
      # @return [Integer]
      def run(arguments)
        command, *rest = parser.parse(arguments)
        return help(0, @out) if @help
        return help(2, @error, command && "pelton db: no command #{command.inspect}") unless %w[create migrate rollback status seed schema console].include?(command)
        return help(2, @error, "pelton db: the address of the database is missing: set DATABASE_URL, or use --database") unless @address
        begin
          send(command, *rest)
          0
        rescue Pelton::Error, Sequel::Error, SystemCallError => problem
          @error.puts("pelton db #{command}: #{problem.message}")
          1
        end
      rescue OptionParser::ParseError, ArgumentError => problem
        help(2, @error, "pelton db: #{problem.message}")
      ensure
        Record.disconnect
      end

      private

      def parser
        @parser ||= OptionParser.new(USAGE) do |options|
          options.on("-d", "--database ADDRESS", "its address; otherwise DATABASE_URL") { |address| @address = address }
          options.on("--migrations FOLDER", "otherwise #{@folder}") { |folder| @folder = folder }
          options.on("--schema FILE", "otherwise #{@schema}") { |file| @schema = file }
          options.on("--seeds FILE", "otherwise #{@seeds}") { |file| @seeds = file }
          options.on("-r", "--require FILE", "load it before seed and console: the program's models") { |file| @features << file }
          options.on("-h", "--help", "show this") { @help = true }
        end
      end

      def help(status, to, complaint = nil)
        to.puts(complaint, "") if complaint
        to.puts(parser.help)
        status
      end

      # With a connection, in a reactor: long statements hold nothing up, and the time can be shown meanwhile.
      def connected
        Pelton.run do
          database = Record.connect(@address, pool: 1)
          yield database
        end
      end

      def create
        address = Address.new(@address)
        case address.driver
        when :sqlite then FileUtils.mkdir_p(File.dirname(address.options[:database])).then { connected { |database| database.tables } }
        else create_on_server(address)
        end
        @out.puts("#{address} is there")
      end

      def create_on_server(address)
        name = address.options[:database]
        neighbour = {postgres: "postgres", mysql: "information_schema"}.fetch(address.driver)
        Pelton.run do
          database = Record.connect(@address.sub(%r{(//[^/]*/)[^?]*}, "\\1#{neighbour}"), pool: 1)
          database.run("CREATE DATABASE #{database.literal(Sequel.identifier(name))}")
        rescue Sequel::DatabaseError => error
          raise unless error.message.match?(/exists/)
        end
      end

      def migrate
        connected do |database|
          done = timed { |progress| Migrations.new(database, @folder).migrate(&progress) }
          @out.puts(done.empty? ? "no migration is pending" : "#{done.size} migrated")
          write_schema(database) unless done.empty? || production?
        end
      end

      def rollback(steps = "1")
        count = Integer(steps, exception: false)
        raise ArgumentError, "the number of migrations to take back is 1 or more, not #{steps}" unless count&.positive?
        connected do |database|
          done = timed { |progress| Migrations.new(database, @folder).rollback(count, &progress) }
          @out.puts(done.empty? ? "no migration is applied" : "#{done.size} taken back")
          write_schema(database) unless done.empty? || production?
        end
      end

      def status
        connected do |database|
          migrations = Migrations.new(database, @folder)
          applied = migrations.applied
          (migrations.names | applied).sort_by(&:to_i).each do |name|
            missing = ", but its file is gone" unless migrations.names.include?(name)
            @out.puts("#{name}: #{applied.include?(name) ? "applied#{missing}" : "pending"}")
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

      def schema
        connected { |database| write_schema(database) }
      end

      # Outside a reactor: irb reads the terminal, and its queries may block.
      def console
        Object.const_set(:DB, Record.connect(@address, pool: 1))
        load_features
        require "irb"
        ARGV.clear
        IRB.start
      end

      def load_features = @features.each { |file| require File.expand_path(file) }

      # The schema is a file of the repository. Where the program is deployed, its folder may be read-only.
      def production? = ENV["RACK_ENV"] == "production"

      def write_schema(database)
        database.extension(:schema_dumper)
        FileUtils.mkdir_p(File.dirname(@schema))
        File.write(@schema, "# Written by pelton db. The migrations make it; do not change it here.\n#{database.dump_schema_migration(same_db: true)}")
        @out.puts("#{@schema} is written")
      end

      # Shows each migration, and every few seconds how long it has taken.
      def timed
        name = started = nil
        timer = Pelton.add_periodic_timer(REPORT_EVERY) { @out.puts("  #{name}: #{(Clock.now - started).round} s") if name }
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
