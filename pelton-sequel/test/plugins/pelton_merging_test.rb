# frozen_string_literal: true

require_relative "../support/sequel_databases"

# With models of Sequel.
class PeltonMergingTest < PeltonTest
  include SequelDatabases

  def setup
    super
    @database = connect
    create_people(@database)
    @database[:people].import(%i[email boss_id], Array.new(1000) { |index| ["p#{index}", 1] })
    @people = people = Class.new(Sequel::Model(@database[:people])) { plugin :pelton_merging }
    @people.many_to_one :boss, class: people
    @people.unique_columns
  end

  def test_a_thousand_finds_of_a_thousand_fibers
    assert_operator queries { assert_equal (1..1000).to_a, together(1..1000) { |id| @people[id].id } }, :<=, 2
    assert_equal 999, @database.stats[:merged]
  end

  def test_unique_columns_and_associations
    # Nobody asks alone, too
    assert_equal(1,
      queries { assert_equal [1, 2, nil], together(%w[p0 p1 nobody]) { |email| @people.first(email: email)&.id } } - 1)
    people = @people.order(:id).limit(2).all
    assert_equal 1, queries { together(people, &:boss) }
    assert_equal 2, queries { together([1, 1]) { |id| @people.first(boss_id: id) } }
  end

  def test_what_is_not_merged
    assert_equal 2, queries { together([1, 2]) { |id| @people.where { id > 0 }.first(id: id) } }
    assert_equal 2, queries { together([1, 2]) { |id| @people.without_merging { @people[id] } } }
    assert_equal 6, queries { together([1, 2]) { |id| @database.transaction { @people[id] } } }
    @people.merge_finds = false
    assert_equal 2, queries { together([1, 2]) { |id| Class.new(@people)[id] } }
  end

  # A find that has yielded in the parent never goes on in the child.
  def test_in_a_child_after_a_fork
    assert_equal "2 in the child\n1\n", ruby_output(<<~'RUBY', sqlite_file, gems: true)
      require "pelton/sequel"
      database = Pelton::Sequel.connect(ARGV[0])
      database.create_table(:people) { primary_key :id }
      database[:people].multi_insert([{id: 1}, {id: 2}])
      people = Class.new(Sequel::Model(database[:people])) { plugin :pelton_merging }
      people.unique_columns
      Pelton.run do
        task = Pelton.spawn { people[1].id }
        Pelton::Reactor.current.yield
        child = fork do
          Pelton.run { $stdout.syswrite("#{people[2].id} in the child\n") }
          exit!(0)
        end
        Process.wait(child)
        puts task.await
      end
    RUBY
  end

  def test_with_sequels_own_pool
    database = Sequel.mock(host: :sqlite, fetch: [{id: 1}, {id: 2}], keep_reference: false)
    people = Class.new(Sequel::Model(database[:people])) { plugin :pelton_merging }
    people.define_singleton_method(:db_schema) { {id: {type: :integer}} }
    database.sqls

    together([1, 2]) { |id| people[id] }
    assert_equal 1, database.sqls.size
    together([1]) { database.transaction { together([1, 2]) { |id| people[id] } } }
    assert_equal 2, database.sqls.grep(/SELECT/).size
  end

  # Where the key of a page comes from its path.
  def test_a_number_that_no_column_has
    database = Sequel.mock(host: :postgres, keep_reference: false)
    people = Class.new(Sequel::Model(database[:people])) { plugin :pelton_merging }
    people.define_singleton_method(:db_schema) { {id: {type: :integer}, worth: {type: :decimal}} }
    database.sqls

    assert_nil people[2**70]
    assert_nil people[-2**63 - 1]
    assert_empty database.sqls
    people[2**63 - 1]

    assert_equal 1, database.sqls.size
  end

  def test_a_database_whose_indexes_cannot_be_asked_for
    people = Class.new(Sequel::Model(Sequel.mock(keep_reference: false)[:people])) do
      plugin(:pelton_merging) && set_primary_key(:id)
    end

    assert_nil(Pelton.run { people.first(email: "p1") })
    assert_equal [:id], people.unique_columns
  end

  def test_outside_of_a_reactor
    assert_equal 1, @people[1].id
    assert_nil @people[0]
    assert_equal 2, @people.first(email: "p1").id
    assert_raises(Sequel::NoMatchingRow) { @people.with_pk!(0) }
  end

  private

  def together(values, &block) = Pelton.run { values.map { |value| Pelton.spawn { block.call(value) } }.map(&:await) }
end
