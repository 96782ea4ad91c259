# frozen_string_literal: true

require_relative "../support/blog"

class ConditionTest < PeltonTest
  include Blog

  Condition = Pelton::Record::Relation::Condition

  def test_the_column_of_a_comparison
    assert_nil Condition.column_of(Sequel.expr(name: 1)) # of any table
    assert_equal Sequel[:authors][:name], Condition.column_of(Sequel.expr(Sequel[:authors][:name] => 1))
    assert_equal Sequel[:authors][:name], Condition.column_of(Sequel.|({Sequel[:authors][:name] => 1}, {Sequel[:authors][:name] => nil}))
    assert_nil Condition.column_of(Sequel.lit("name = 1"))
  end

  def test_columns_are_those_of_the_table
    assert_equal Sequel.qualify(:authors, :name), Condition.qualified(Author.dataset, :name)
  end

  def test_an_unknown_association
    assert_match(/no association :nobody/, assert_raises(ArgumentError) { Condition.related(Author, :nobody) }.message)
  end

  # Sequel takes a Hash, and a list of pairs, for a condition: `token = ('a' = 'b')`, which is true on MySQL.
  def test_a_hash_is_no_value_of_a_text
    [{"a" => "b"}, {}, [{"a" => "b"}], [["a", "b"]], Set[%w[a b]], [["a", "b"], ["c", "d"]], Object.new].each do |value|
      [
        -> { Author.where("name = ? AND email = ?", "Ann", value).first }, -> { Author.where("email = :email AND name = :name", name: "Ann", email: value).first },
        -> { Author.where(["email = ? OR age = ?", value, 1]).first }, -> { Author.find_by("age > ? AND email = ?", 1, value) },
        -> { Author.where.not("email = ? OR age = ?", value, 1).first }, -> { Author.group(:name).having("email = ? OR 1 = ?", value, 1).count },
        -> { Author.update_all(["name = ?, age = ?", value, 1]) },
        -> { Author.find_by_sql(["SELECT * FROM authors WHERE email = ? OR age = ?", value, 1]) },
        -> { Author.where(email: value).first if value.is_a?(Enumerable) && value != {} || raise(Pelton::Record::BadValue) },
        -> { Author.where(Sequel[:email] => value).first if value.is_a?(Enumerable) || raise(Pelton::Record::BadValue) },
        -> { Author.exists?(["email = ? OR age = ?", value, 1]) }, -> { Author.where("email IN (?) OR age = ?", [value], 1).to_a }
      ].each { |query| assert_raises(Pelton::Record::BadValue, "#{value.inspect} at line #{query.source_location}", &query) }
    end
    assert_equal "Ann", ann.reload.name
  end

  def test_values_of_texts
    assert_equal [ann], Author.where("name = ? AND age IN (?) AND id = ?", :Ann, Set[20, nil], ann).to_a
    assert_equal [ann], Author.find_by_sql(["SELECT * FROM authors WHERE name = :name", {name: "Ann"}])
    assert_empty Author.where("name IN (?)", []).to_a
  end

  def test_conditions_without_their_values
    shown = lambda do |relation|
      Condition.without_values(relation.dataset, relation.dataset.opts[:where])
    end

    assert_equal "(`authors`.`name` = ?)", shown.call(Author.where(name: "s3cret"))
    assert_equal "((`authors`.`name` IN (?)) AND (`authors`.`age` >= ?) AND (email = ? OR age IN (?)))", shown.call(Author.where(name: %w[s3cret other], age: 5..).where("email = ? OR age IN (?)", "s3cret", [1, 2]))
    assert_equal "(`authors`.`id` IN (SELECT `posts`.`author_id` FROM `posts` WHERE (`posts`.`title` = ?)))", shown.call(Author.where(id: Post.where(title: "s3cret").select(:author_id)))
    assert_equal "(`authors`.`name` IS NULL)", shown.call(Author.where(name: nil))
  end

  def test_a_list_of_objects_of_a_column
    assert_equal [ann], Author.where(id: [ann]).to_a
    assert_equal [ann, bob], Author.where(id: [ann.id..ann.id, bob]).order(:id).to_a
    assert_equal [ann], Author.where(id: Set[ann.id]).to_a
  end

  # MySQL reads 'abc' = 0 as true.
  def test_numbers_of_placeholders_are_texts_for_mysql
    condition = Condition.of_text("token = ? OR id IN (?)", [0, [1, true, BigDecimal("2.5")]])
    shown = {mysql: "(token = '0' OR id IN ('1', '1', '2.5'))", postgres: "(token = 0 OR id IN (1, true, 2.5))"}

    shown.each { |host, sql| assert_equal sql, Sequel.mock(host: host, keep_reference: false).literal(condition) }
  end
end
