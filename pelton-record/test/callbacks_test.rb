# frozen_string_literal: true

require_relative "support/blog"

class CallbacksTest < PeltonTest
  include Blog

  def setup
    super
    events = @events = []
    @model = model(:Watched) do
      self.table_name = "authors"
      %i[validation save create update destroy].each do |event|
        public_send(:"before_#{event}") { events << :"before_#{event}" }
        public_send(:"after_#{event}") { events << :"after_#{event}" }
      end
      around_save do |_, block|
        events << :around_save
        block.call
        events << :saved
      end
      after_commit { events << [:commit, written_by] }
      after_rollback { events << :rollback }
      after_create_commit { events << :create_commit }
    end
  end

  def test_the_order_of_a_creation
    @model.create!(name: "x")

    assert_equal %i[before_validation after_validation before_save around_save before_create after_create saved after_save], @events.grep(Symbol) - %i[create_commit]
    assert_equal [:create_commit, [:commit, :create]].sort_by(&:to_s), @events.last(2).sort_by(&:to_s)
  end

  def test_updates_and_destruction
    author = @model.create!(name: "x")
    @events.clear
    author.update!(name: "y")

    assert_equal [:before_update, :after_update, [:commit, :update]], @events & [:before_update, :after_update, [:commit, :update], :create_commit]
    @events.clear
    author.destroy

    assert_equal [:before_destroy, :after_destroy, [:commit, :destroy]], @events
  end

  def test_abort
    @model.before_save { throw :abort if name == "no" }
    @model.before_destroy { throw :abort if name == "stay" }

    refute @model.new(name: "no").save
    assert_match(/:abort/, assert_raises(Pelton::Record::NotSaved) { @model.create!(name: "no") }.message)
    stays = @model.create!(name: "stay")

    assert_equal false, stays.destroy
    assert_raises(Pelton::Record::NotSaved) { stays.destroy! }
    assert @model.exists?(stays.id)
  end

  def test_nothing_is_committed_when_a_transaction_rolls_back
    author = nil
    @model.transaction do
      author = @model.create!(name: "lost")

      assert_empty @events.grep(Array)
      raise Sequel::Rollback
    end

    assert_equal :rollback, @events.last
    assert_empty @events.grep(Array)
    assert_predicate author, :new_record?
  end

  def test_an_error_in_a_callback_rolls_back
    @model.after_save { raise KeyError }

    assert_raises(KeyError) { @model.create!(name: "x") }
    assert_equal 0, @model.count
  end

  def test_loading_and_making
    events = []
    seen = model(:Seen) do
      self.table_name = "authors"
      after_initialize { events << :initialize }
      after_find { events << :find }
    end
    seen.create!(name: "x")
    seen.find_by(name: "x")

    assert_equal %i[initialize find initialize], events
  end

  def test_methods_and_conditions
    named = model(:Conditional) do
      self.table_name = "authors"
      before_save :shout, if: -> { age == 1 }

      define_method(:shout) { self.name = name.upcase }
    end

    assert_equal %w[X x], [named.create!(name: "x", age: 1), named.create!(name: "x", age: 2)].map { |one| one.reload.name }
  end

  def test_callbacks_are_inherited
    child = Class.new(@model) { before_save { self.age = 9 } }

    assert_equal 9, child.create!(name: "x").reload.age
    assert_includes @events, :before_save
    assert_nil @model.create!(name: "y").age
  end
end
