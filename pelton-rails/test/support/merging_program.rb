# frozen_string_literal: true

require_relative "active_record_program"

# Programs with models whose finds are merged.
module MergingProgram
  include ActiveRecordProgram

  PEOPLE = <<~'RUBY'
    connection = ActiveRecord::Base.lease_connection
    connection.create_table(:people, force: true) do |table|
      table.string :email
      table.bigint :boss_id
      table.string :type
      table.index :email, unique: true
    end
    class Person < ActiveRecord::Base
      include Pelton::ActiveRecord::Merging
      belongs_to :boss, class_name: "Person", optional: true
    end
    class Manager < Person; end
    Person.insert_all!(Array.new(200) { |index| {email: "p#{index}", boss_id: 1} })
    Person.unique_columns
    ActiveRecord::Base.connection_handler.clear_active_connections!(:all)
    SENT = []
    ActiveSupport::Notifications.subscribe("sql.active_record") do |event|
      SENT << event.payload[:sql] unless event.payload[:cached] || event.payload[:name] == "SCHEMA"
    end
    def together(values, &block)
      values.map { |value| Pelton.spawn { block.call(value) } }.map { |task| task.await rescue $! }
    end
    def queries
      SENT.clear
      yield
      SENT.size
    end
    BASE = Person.minimum(:id)
  RUBY

  def self.included(test)
    test.include(ActiveRecordProgram)
    test.extend(ActiveRecordProgram::OnEachDatabase)
    test.deadline = 120 if test.respond_to?(:deadline=)
  end

  # @param code [String] runs in a reactor
  def merging_output(code, database = :sqlite, *arguments, pool: 5, **options)
    active_record_output("#{PEOPLE}\nPelton.run do\n#{code}\nend", database, *arguments, pool: pool, **options)
  end
end
