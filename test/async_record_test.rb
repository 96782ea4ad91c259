# frozen_string_literal: true

require_relative "test_helper"
require "pelton/sequel"
require "pelton/async_record"

# With Sequel's models; pelton-rails' test of the same name has those of ActiveRecord.
class AsyncRecordTest < PeltonTest
  def setup
    super
    @database = Pelton::Sequel.connect("sqlite::memory:")
    @database.create_table(:users) do
      primary_key :id
      String :username
      Integer :age
    end
    @model = Class.new(Sequel::Model(@database[:users])) { extend Pelton::AsyncRecord }
    5.times { |number| @model.create(username: "user #{number}", age: 20 + number) }
  end

  def teardown
    Pelton::Sequel.disconnect(@database)
    super
  end

  def test_a_block_gets_the_records_that_the_options_choose
    assert_equal %w[user\ 0 user\ 1], named { |got| @model.all(:limit => 2, &got) } # standard:disable Style/HashSyntax
    assert_equal %w[user\ 3 user\ 2],
      named { |got| @model.all(conditions: {age: 21..24}, order: Sequel.desc(:id), limit: 2, offset: 1, &got) }
  end

  def test_options_without_a_block_give_the_records
    assert_equal [1, 2], @model.all(limit: 2).map(&:id)
    assert_equal [1, 2, 3, 4, 5], @model.all.map(&:id)
  end

  def test_an_unknown_option_is_an_error
    error = assert_raises(ArgumentError) { @model.all(limits: 5) }

    assert_equal "all takes conditions, order, limit, offset, not limits", error.message
  end

  def test_a_block_that_has_a_meaning_in_sequel_keeps_it
    ids = []
    @model.all { |user| ids << user.id }

    assert_equal [1, 2, 3, 4, 5], ids
    assert_equal 4, @model.first { |row| row.age > 22 }.id
    assert_equal 4, @model.find { |row| row.age > 22 }.id
    assert_equal 30, @model.create(username: "new") { |user| user.age = 30 }.age
  end

  def test_a_record_s_block_gets_the_result
    results = []
    Pelton.run do
      user = @model.first
      user.update(age: 40) { |updated| results << updated.age }
      @model.new(username: "new").save { |saved| results << saved.id }
      user.destroy { |destroyed| results << destroyed.exists? }
      assert_empty results
    end

    assert_equal [40, 6, false], results
  end

  def test_an_error_goes_to_the_errback_of_what_the_call_returns
    error = nil
    @model.define_method(:before_save) { raise "on purpose" }
    Pelton.run { @model.new.save { flunk }.errback { |failure| error = failure.message } }

    assert_equal "on purpose", error
  end

  def test_an_error_that_nobody_listens_to_goes_to_on_error
    errors = []
    before = Pelton.on_error { |error| errors << error.message }
    @model.define_method(:before_save) { raise "on purpose" }
    Pelton.run { @model.new.save { flunk } }

    assert_equal ["on purpose"], errors
  ensure
    Pelton.on_error(&before)
  end

  def test_without_a_reactor_the_block_is_called_at_once
    names = []
    @model.all(limit: 1) { |users| names = users.map(&:username) }

    assert_equal ["user 0"], names
  end

  def test_only_models_can_be_extended
    error = assert_raises(ArgumentError) { Class.new.extend(Pelton::AsyncRecord) }

    assert_match(/\A#<Class:0x\h+> is no model of ActiveRecord or Sequel\z/, error.message)
  end

  def test_base_stands_on_the_library_that_is_loaded
    assert_equal "Sequel::Model, users\n", ruby_output(<<~RUBY, gems: true)
      require "pelton/async_record"
      require "pelton/sequel"
      Pelton::Sequel.connect("sqlite::memory:").create_table(:users) { String :username }
      class User < AsyncRecord::Base; end
      puts [User.superclass.superclass, User.table_name].join(", ")
    RUBY
  end

  def test_base_without_a_library_or_after_it_was_made_says_what_to_do
    assert_equal <<~TEXT, ruby_output(<<~RUBY, gems: true)
      AsyncRecord::Base needs ActiveRecord or Sequel: require one of them before
      AsyncRecord.on takes :active_record or :sequel, not :rom
      AsyncRecord::Base is in use already: call AsyncRecord.on before the models are loaded
    TEXT
      require "pelton/async_record"
      def told
        yield
      rescue => error
        puts error.message
      end
      told { AsyncRecord::Base }
      told { AsyncRecord.on(:rom) }
      require "pelton/sequel"
      Pelton::Sequel.connect("sqlite::memory:")
      AsyncRecord::Base
      told { AsyncRecord.on(:sequel) }
    RUBY
  end

  private

  def named
    users = nil
    Pelton.run { yield ->(found) { users = found } }
    users.map(&:username)
  end
end
