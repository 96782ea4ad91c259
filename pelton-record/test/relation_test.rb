# frozen_string_literal: true

require_relative "support/blog"

class RelationTest < PeltonTest
  include Blog::WithPeople

  def test_it_is_read_once
    relation = Author.order(:id)

    refute_predicate relation, :loaded?
    assert_equal(1, queries { 2.times { assert_equal people, relation.to_a } }.size)
    assert_predicate relation, :loaded?
    assert_empty(queries { assert_equal [3, 3, ann, [bob], false], [relation.size, relation.length, relation[0], relation[1, 1], relation.blank?] })
    assert_equal(1, queries { relation.reload }.size)
    refute_predicate relation.reset, :loaded?
    assert_equal(1, queries { assert_equal 3, relation.size }.size)
  end

  def test_it_does_not_share_its_list
    relation = Author.all
    relation.to_a.clear

    assert_equal 3, relation.to_a.size
  end

  def test_enumerable
    assert_equal %w[Ann Bob Cid], Author.order(:id).map(&:name)
    assert_equal({true => [ann], false => [bob, cid]}, Author.order(:id).group_by { |author| author.age == 20 })
    assert_equal %w[Ann Bob], Author.order(:id).each_with_object([]) { |author, names| names << author.name if author.age }
    assert_equal 3, Author.all.each.size
    assert_equal [[0, ann]], Author.where(name: "Ann").each_with_index.map { |author, index| [index, author] }
  end

  def test_scopes_and_class_methods
    assert_equal [ann], Author.named("Ann").to_a
    assert_equal [bob], Author.adult.named("Bob").to_a
    assert_equal bob, Author.adult.oldest
    assert_equal ann, Author.named("Ann").oldest
    assert_equal 3, Author.count
  end

  def test_sequel_s_methods_go_on_working
    assert_equal [bob], Author.exclude(name: "Ann").exclude(age: nil).to_a
    assert_equal [20, 30], Author.where.not(age: nil).order(:id).select_map(:age)
    assert_equal({"Ann" => 20, "Bob" => 30}, Author.where.not(age: nil).as_hash(:name, :age))
    assert_equal 1, Author.dataset.where(name: "Ann").count
    assert_raises(NoMethodError) { Author.all.nonsense }
    assert_respond_to Author.all, :exclude
    refute_respond_to Author.all, :nonsense
  end

  def test_equality_and_sql
    assert_equal Author.where(name: "Ann"), [ann]
    assert_equal Author.where(name: "Ann"), Author.where(name: "Ann")
    assert_match(/SELECT .* WHERE/, Author.where(name: "Ann").to_sql)
    assert_match(/Relation SELECT/, Author.where(name: "Ann").inspect)
    assert_match(/Ann/, Author.where(name: "Ann").load.inspect)
    refute_empty Author.where(name: "Ann").explain
  end

  def test_scoping_is_the_fiber_s_own
    Author.named("Ann").scoping do
      assert_equal 1, Author.count
      assert_equal 3, Author.unscoped.count
      assert_raises(Pelton::Record::NotFound) { Author.find(bob.id) }
      Fiber.new { assert_equal 3, Author.count }.resume
    end
    assert_equal bob, Author.find(bob.id)
  end

  def test_the_model_s_methods_are_there_in_scopes
    ann
    found = model(:Searcher) do
      self.table_name = "authors"
      scope :search, ->(text) { where("name LIKE ?", "#{sanitize_sql_like(text)}%") }
      scope :quoted, -> { where("#{table_name}.name = ?", column_names.include?("name") ? "Ann" : "") }
      scope :busy, -> { transaction { where(id: Blog::Author.where(name: "Ann").ids) } }
      scope :keyed, -> { where(primary_key => Blog::Author.find_by(name: "Ann").id) }
      scope :labelled, -> { where(name: human_attribute_name(:ann)) }
    end

    assert_equal [1] * 5, [found.search("An"), found.quoted, found.busy, found.keyed, found.labelled].map(&:count)
    assert_equal [true, false], %i[sanitize_sql_like nonsense].map { |name| found.all.respond_to?(name) }
    assert_raises(NoMethodError) { found.all.nonsense }
  end
end
