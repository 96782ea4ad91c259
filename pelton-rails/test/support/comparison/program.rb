# frozen_string_literal: true

# ruby program.rb outside|inside NUMBER: evaluates the lines of calls/ in so many runs, one after the other outside of a
# reactor, or in a fiber each inside one. Prints the answers and the rows of each run in JSON. The databases are those
# of DATABASES.

require "bundler/setup"
require "json"
require "pelton/active_record"

PLACE, NUMBER = ARGV[0], Integer(ARGV[1])
ActiveRecord.async_query_executor = :pelton
ActiveRecord.global_executor_concurrency = 4
ActiveRecord::Base.configurations =
  {ActiveRecord::ConnectionHandling::DEFAULT_ENV.call => JSON.parse(ENV.fetch("DATABASES"))}
ActiveRecord::Migration.verbose = false
require_relative "models"

module Comparison
  # What the calls use.
  module Helpers
    SECTIONS = Dir["#{__dir__}/calls/*.rb"].sort.to_h do |file|
      [File.basename(file, ".rb"), File.readlines(file, chomp: true).grep(/\A[^#\s]/)]
    end
    ROOM = Pelton::Semaphore.new(3) # runs that may hold more than one connection of a pool

    def pool = ApplicationRecord.connection_pool

    # The SQL of the queries of this fiber.
    def sql
      before = ActiveSupport::IsolatedExecutionState[:comparison]
      ActiveSupport::IsolatedExecutionState[:comparison] = []
      yield
      ActiveSupport::IsolatedExecutionState[:comparison]
    ensure
      ActiveSupport::IsolatedExecutionState[:comparison] = before
    end

    def queries(&block) = sql(&block).size

    # Runs a block at the same time on another connection, which the caller must have asked for by {#room}.
    def beside(&block)
      return Pelton.spawn(&block).await if Pelton.running?
      Thread.new(&block).tap { |thread| thread.report_on_exception = false }.value
    end

    def room(&block) = Pelton.running? ? ROOM.acquire(&block) : yield

    # The error's class and message.
    def error
      yield
      :no_error
    rescue => error
      [error.class, error.message.lines.first.chomp]
    end
  end

  ActiveSupport::Notifications.subscribe("sql.active_record") do |event|
    seen = ActiveSupport::IsolatedExecutionState[:comparison]
    seen << event.payload[:sql] if seen && !event.payload[:cached] && event.payload[:name] != "SCHEMA"
  end

  class << self
    # @return [Hash] the answer of each call, and the rows that are there afterwards
    def run(scope)
      scope.extend(Helpers)
      answers = Helpers::SECTIONS.to_h do |name, lines|
        context = scope.module_eval("binding", __FILE__, __LINE__)
        [name, lines.map { |line| plain(answer(line, context, name)) }]
      end
      {answers: answers, rows: rows(scope)}
    end

    private

    def answer(line, context, name)
      describe(eval(line, context, name)) # rubocop:disable Security/Eval
    rescue => error
      "#{error.class}: #{error.message.lines.first}"
    ensure
      # Runs that keep the connections which they have leased while they wait for others would wait for each other.
      ActiveRecord::Base.connection_handler.clear_active_connections!(:all)
    end

    def describe(value)
      case value
      when ActiveRecord::Relation then describe(value.to_a)
      when ActiveRecord::Base then "#{value.class} #{value.attributes.except("updated_at").inspect}"
      when ActiveRecord::Result then describe(value.to_a)
      when Array then "[#{value.map { |one| describe(one) }.join(", ")}]"
      when Hash then "{#{value.map { |key, one| "#{describe(key)} => #{describe(one)}" }.join(", ")}}"
      else value.inspect
      end
    end

    # Without what is different in each run: its number, and addresses of objects.
    def plain(text)
      text.gsub(/Comparison::Run\d+(::)?/, "").gsub(/\br\d+_/, "").gsub(/(?<=#<)(\w+(?:::\w+)*):0x\h+/, '\1')
    end

    def rows(scope)
      TABLES.flat_map { |database, tables| tables.keys.map { |name| [database, name] } }.to_h do |database, name|
        record = (database == :primary) ? ApplicationRecord : LibraryRecord
        order = " ORDER BY id" unless name == :posts_tags
        all = record.with_connection do |connection|
          connection.select_rows("SELECT * FROM #{scope.table_name_prefix}#{name}#{order}")
        end
        [[database, name].join("."), all.map { |row| plain(row.reject { |value| time?(value) }.inspect) }.sort]
      end
    end

    def time?(value) = value.is_a?(Time) || value.to_s.match?(/\A\d+-\d\d-\d\d /)
  end
end

scopes = Array.new(NUMBER) { |number| Comparison.module_of(number) }
ActiveRecord::Base.connection_handler.clear_active_connections!(:all)
runs = if PLACE == "inside"
  Pelton.run { scopes.map { |scope| Pelton.spawn { Comparison.run(scope) } }.map(&:await) }
else
  scopes.map { |scope| Comparison.run(scope) }
end
puts JSON.generate(runs)
