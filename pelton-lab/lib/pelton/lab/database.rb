# frozen_string_literal: true

require_relative "database_server"

module Pelton
  module Lab
    # A database as the contenders use it: how it starts, its address for a library, and a query that waits there.
    class Database
      # SQLite is no server: each contender has its own file.
      NoServer = Struct.new(:version, :port)

      attr_reader :name

      # @param wait [String, nil] an expression in SQL that takes 20 ms; nil: nothing waits there
      # @yieldparam processes [Processes]
      # @yieldparam core [Integer, nil]
      # @yieldreturn [#version, #port]
      def initialize(name, address, rails: address, wait: nil, &starter)
        @name = name
        @addresses = Hash.new(address).update(rails: rails)
        @wait = wait
        @starter = starter
      end

      # Starts it for a race, see {Race#server}.
      # @return [DatabaseServer, NoServer]
      # @raise [Unavailable] where it is not installed
      def start(processes, core) = @starter.call(processes, core)

      # @param run [Run] knows where the server is
      # @param library [Symbol] :sequel or :rails
      # @param folder [String] of the contender, for a file
      # @return [String] a URL
      def address(run, library, folder) = format(@addresses[library], address: run.address, folder: folder)

      # @return [Boolean]
      def waits? = !@wait.nil?

      # @return [String, nil] a query for five rows of a table, which takes 20 ms
      def slow_query(table) = waits? ? "SELECT #{table}.* FROM #{table}, (SELECT #{@wait} AS waited) AS w LIMIT 5" : nil

      # Yields the database to Sequel, by a gem that comes with the lab.
      def open(run, folder, &block)
        require "sequel"
        ::Sequel.connect(address(run, :sequel, folder).sub(/\Asqlite:/, "extralite:"), &block)
      end

      # By their names.
      ALL = [
        new("SQLite", "sqlite://%{folder}/app.db",
          rails: "sqlite3:%{folder}/app.db") { NoServer.new("SQLite, a file for each contender", 1) },
        new("PostgreSQL", "postgres://postgres@%{address}/postgres",
          rails: "postgresql://postgres@%{address}/postgres", wait: "pg_sleep(0.02)") do |processes, core|
          DatabaseServer.postgres(processes, core)
        end,
        new("MariaDB", "trilogy://root@%{address}/test",
          wait: "SLEEP(0.02)") { |processes, core| DatabaseServer.mariadb(processes, core) }
      ].to_h { |database| [database.name, database] }.freeze
    end
  end
end
