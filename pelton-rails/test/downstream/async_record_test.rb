# frozen_string_literal: true

require_relative "../support/rails_program"

# With ActiveRecord's models; the test of the same name of the gem pelton has those of Sequel.
class ActiveRecordAsyncRecordTest < PeltonTest
  include RailsProgram

  self.deadline = 120

  MODEL = <<~RUBY
    require "pelton/rails"
    require "active_record"
    require "pelton/async_record"
    ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: "test.sqlite3", pool: 5)
    ActiveRecord::Base.connection.create_table(:users) { |table| table.string(:username) && table.integer(:age) }
    class User < AsyncRecord::Base; end
    class Extended < ActiveRecord::Base
      self.table_name = "users"
      extend Pelton::AsyncRecord
    end
    5.times { |number| User.create!(username: "user \#{number}", age: 20 + number) }
    def told(name)
      ->(value) { puts "\#{name}: \#{value.respond_to?(:map) ? value.map(&:id) : (value.try(:id) || value)}" }
    end
  RUBY

  def test_blocks_are_called_with_the_result
    assert_equal <<~TEXT, sorted(<<~RUBY)
      all: [1, 2, 3, 4, 5]
      destroy: 1
      extended: [1]
      find: 3
      find_by: 2
      first: 1
      last: [4, 5]
      list: [1, 2]
      options: [4, 3]
      update: true
    TEXT
      User.all(&told("all"))
      User.all(conditions: ["age > ?", 20], order: {id: :desc}, limit: 2, offset: 1, &told("options"))
      Extended.all(limit: 1, &told("extended"))
      User.find(3, &told("find"))
      User.find(1, 2, &told("list"))
      User.find_by(age: 21, &told("find_by"))
      User.first(&told("first"))
      User.last(2, &told("last"))
      users = User.order(:id).to_a
      users.last.update(username: "changed", &told("update"))
      User.later.count.await
      users.first.destroy(&told("destroy"))
    RUBY
  end

  def test_a_block_that_has_a_meaning_in_active_record_keeps_it
    assert_equal <<~TEXT, sorted(<<~RUBY)
      count: 2
      create: 30
      find: 4
      save: true
    TEXT
      told("find").call(User.find { |user| user.age > 22 })
      told("count").call(User.count { |user| user.age > 22 })
      told("create").call(User.create!(username: "new") { |user| user.age = 30 }.age)
      told("save").call(User.new.save { nil })
    RUBY
  end

  def test_later_keeps_the_scope_and_gives_deferrables
    assert_equal <<~TEXT, sorted(<<~RUBY)
      records: [2]
      relation: [2]
      scoped: 1
      written: 6
      wrong: ActiveRecord::RecordNotFound
    TEXT
      User.where(age: 21).later.to_a.callback(&told("records"))
      User.later.where(age: 21).callback(&told("relation"))
      User.where(age: 21).later.count.callback(&told("scoped"))
      User.later.find(99).errback { |error| told("wrong").call(error.class.name) }
      User.later.create!(age: 9).callback(&told("written"))
    RUBY
  end

  def test_where_both_libraries_are_loaded_one_must_be_named
    assert_equal <<~TEXT, rails_output(<<~RUBY, setup: 'require "bundler/setup"')
      both ActiveRecord and Sequel are loaded: say which one AsyncRecord::Base is for, by AsyncRecord.on(:sequel) or AsyncRecord.on(:active_record)
      ActiveRecord::Base
    TEXT
      require "active_record"
      require "pelton/async_record"
      module Sequel
        class Model; end
      end
      begin
        AsyncRecord::Base
      rescue Pelton::Error => error
        puts error.message
      end
      AsyncRecord.on(:active_record)
      puts AsyncRecord::Base.superclass
    RUBY
  end

  private

  def sorted(code)
    rails_output("Pelton.run do\n#{code}\nend", setup: "require \"bundler/setup\"\n#{MODEL}").lines.sort.join
  end
end
