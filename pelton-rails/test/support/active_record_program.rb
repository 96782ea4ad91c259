# frozen_string_literal: true

require_relative "rails_program"
require_relative "../../../test/support/databases"

# Programs with Active Record and without Rails, in separate processes, on each database. `bin/setup downstream` brings
# the gems of gemfiles/active_record.rb.
module ActiveRecordProgram
  include Databases

  GEMS = GemProgram::Gems.new("gemfiles/active_record.rb", folder: "tmp/rails", environment: RailsProgram::ENVIRONMENT)

  # The program's ADDRESS is that of its database.
  CONNECT = <<~RUBY
    require "bundler/setup"
    require "pelton/active_record"
    abort "Rails is loaded" if defined?(Rails::Railtie)
    ADDRESS = ARGV.shift
    ActiveRecord::Base.establish_connection(ADDRESS)
    ActiveRecord::Migration.verbose = false
  RUBY

  # Follows {CONNECT}: a model, and its pool with all connections free.
  POSTS = <<~RUBY
    ActiveRecord::Base.lease_connection.create_table(:posts, force: true) { |table| table.string :title }
    class Post < ActiveRecord::Base; end
    POOL = Post.connection_pool
    ActiveRecord::Base.connection_handler.clear_active_connections!(:all)
  RUBY

  # Defines a test for each database, which calls the block with its address. A method named so, behind `test_`, may
  # also take options of the address.
  module OnEachDatabase
    def on_each_database(name, &block)
      define_method("test_#{name}_on_sqlite") { instance_exec(:sqlite, &block) }
      %i[postgresql mariadb].each do |database|
        define_method("test_#{name}_on_#{database}") do
          needs_servers
          instance_exec(database, &block)
        end
      end
    end
  end

  def self.included(test)
    test.include(RailsProgram)
    test.extend(OnEachDatabase)
    test.deadline = 120 if test.respond_to?(:deadline=)
  end

  # @param database [Symbol] :sqlite, in a file of the program's folder, :postgresql or :mariadb
  # @param options [Hash] such as `pool:`
  # @return [String]
  def address_of(database, **options)
    query = options.map { |name, value| "#{name}=#{value}" }.join("&")
    case database
    when :sqlite then "sqlite3:test.sqlite3?timeout=5000&default_transaction_mode=immediate&#{query}"
    when :postgresql then "postgresql://postgres@127.0.0.1:#{postgres}/postgres?#{query}"
    when :mariadb then "trilogy://root@127.0.0.1:#{mariadb}/test?#{query}"
    end
  end

  # @param code [String] runs after {CONNECT}, in an empty folder
  # @return [String] what it has printed
  def active_record_output(code, database = :sqlite, *arguments, setup: CONNECT, deadline: 60, **options)
    needs_gems(GEMS) # before a database is started
    program_output(GEMS, "#{setup}\n#{code}", address_of(database, **options), *arguments, deadline: deadline)
  end
end
