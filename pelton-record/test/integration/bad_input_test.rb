# frozen_string_literal: true

require_relative "../support/blog"

# What comes from outside, on the way into SQL: each name is quoted, each value bound or quoted, and what means nothing is an error of
# Ruby's or the database's. Nothing is lost, and the connection works on.
class BadInputTest < PeltonTest
  include Blog::WithPeople

  INJECTIONS = ["1 OR 1=1", "1; DROP TABLE authors", "x' OR 'a'='a", 'x" OR "a"="a', "x` OR `a`=`a", "name) OR (1=1", "*/ DROP TABLE authors /*", "-- x\n", "\\' OR 1=1 -- ",
    "id, (SELECT 1)", "'", '"', "`", "\\", "%", "?", ":name", "$1", "{}", ""].freeze
  REFUSALS = [ArgumentError, Sequel::Error, Pelton::Record::Error].freeze

  # Calls the block with each text. It may refuse, and must leave the rows as they are.
  def harmless(texts = INJECTIONS)
    texts.each do |text|
      found = begin
        yield text
      rescue *REFUSALS
        nil
      end
      assert_equal %w[Ann Bob Cid], Author.order(:id).pluck(:name), text
      assert_operator Array(found).size, :<=, 1, "#{text.inspect} found #{found.inspect}" unless found.is_a?(Integer)
    end
  end

  def test_values
    harmless { |text| Author.where(id: text).to_a }
    harmless { |text| Author.where(name: text).to_a }
    harmless { |text| Author.where(name: [text, text + "x"], age: text).to_a }
    harmless { |text| Author.where(name: text..text).to_a }
    harmless { |text| Author.where("name = ?", text).to_a }
    harmless { |text| Author.where("name = :name", name: text).to_a }
    harmless { |text| Author.where("name IN (?)", [text]).to_a }
    harmless { |text| Author.find_by(email: text) }
    harmless { |text| Author.find(text) }
    harmless { |text| Author.exists?(text) }
    harmless { |text| Author.where.not(id: nil).find_by(id: text) }
    harmless { |text| Author.find_by_sql(["SELECT * FROM authors WHERE name = ?", text]) }
    harmless { |text| Author.where(name: text).update_all(name: "gone") }
    INJECTIONS.each do |text|
      assert_equal text, Tag.create!(name: text).reload.name
      assert_equal [text], Tag.where(name: text).pluck(:name)
      assert_equal text, Tag.insert_all([{name: text}], **((database.database_type == :mysql) ? {} : {returning: :name})).then { Tag.last.name }
    end
  end

  def test_names
    harmless { |text| Author.order(text).limit(1).to_a }
    harmless { |text| Author.order(text.to_sym).limit(1).to_a }
    harmless { |text| Author.order(name: text).limit(1).to_a }
    harmless { |text| Author.order(text => :asc).limit(1).to_a }
    harmless { |text| Author.pluck(text).uniq }
    harmless { |text| Author.limit(1).pluck(text.to_sym) }
    harmless { |text| Author.limit(1).select(text.to_sym).to_a }
    harmless { |text| Author.group(text.to_sym).limit(1).count.to_a }
    harmless { |text| Author.where(text => "x").to_a }
    harmless { |text| Author.where("authors.#{text}" => "x").to_a }
    harmless { |text| Author.where(posts: {text => "x"}).to_a }
    harmless { |text| Author.joins(text.to_sym).to_a }
    harmless { |text| Author.includes(text.to_sym).to_a }
    harmless { |text| Author.sum(text.to_sym).to_i }
    harmless { |text| Author.where(id: 0).update_all(text => "x") }
    harmless { |text| Author.insert_all([{text => "x"}]) }
    harmless { |text| Author.limit(text).offset(text).to_a if text != "" }
  end

  def test_like
    Tag.create!([{name: "50%"}, {name: "500"}, {name: "a_b"}, {name: "aXb"}])
    escape = (database.database_type == :sqlite) ? " ESCAPE '\\'" : ""
    {"50%" => ["50%"], "a_b" => ["a_b"], "5" => %w[50% 500]}.each do |text, names|
      assert_equal names, Tag.where("name LIKE ?#{escape}", "#{Tag.sanitize_sql_like(text)}%").order(:id).pluck(:name)
    end
  end

  def test_other_kinds_of_values
    assert_nil Author.find_by(name: nil)
    assert_equal [cid], Author.where(email: nil).to_a
    assert_empty Author.where(id: []).to_a
    assert_raises(Pelton::Record::NotFound) { Author.find(nil) }
    [{"$ne" => ""}, {"x" => {"y" => "z"}}, {}].each do |hash|
      assert_raises(Pelton::Record::BadValue) { Author.where(email: hash).to_a }
      assert_raises(Pelton::Record::BadValue) { Author.where("id" => hash).to_a }
      assert_raises(*REFUSALS) { Author.create!(name: hash) }
    end
    assert_raises(Pelton::Record::BadValue) { Author.create!(name: ["x"]) }
    assert_raises(Pelton::Record::BadValue) { Author.where(name: [["x"]]).to_a }
    assert_raises(Pelton::Record::BadValue) { Author.find("id" => 1) }
    assert_equal 3, Author.count
  end

  def test_numbers_without_end
    huge = 10**30
    [huge, -huge, huge.to_s, 2**63, "9" * 1000].each do |number|
      assert_nil Author.find_by(id: number)
      assert_empty Author.where(age: [number, nil]).to_a - [cid]
      assert_raises(Pelton::Record::NotFound) { Author.find(number) }
      assert_raises(RangeError) { Author.create!(name: "x", age: number) } unless number == "9" * 1000 # too long to be read: nil
    end
    assert_equal [3, 0, 0], [-huge..huge, huge..(huge + 1), -huge - 1..-huge].map { |range| Author.where(id: range).count }
    assert_equal 3, Author.count
  end

  def test_texts_that_are_none
    ["a\0b", "\xFF\xFE", "\xE2\x28".b, "\u{10FFFF}"].each do |text|
      begin
        assert_nil Author.find_by(name: text)
        Tag.create!(name: text)
        assert_equal text.b, Tag.last.name.b
      rescue ArgumentError, Sequel::Error
        nil # PostgreSQL has no such texts
      end
      assert_equal 3, Author.count
    end
  end

  # PostgreSQL takes 65,535 values, and MySQL a text of a certain length.
  def test_long_lists_and_texts
    names = Array.new(70_000) { |index| "name #{index}" }

    assert_equal [ann], Author.where(name: names + ["Ann"]).to_a
    assert_equal [ann, bob, cid], Author.where.not(name: names).order(:id).to_a
    assert_equal [ann, bob], Author.where(id: [ann.id, bob.id, *1_000_000..1_070_000]).order(:id).to_a
    assert_equal [ann], Author.where("name IN (?)", names + ["Ann"]).to_a
    huge = "x" * 20_000_000
    assert_empty Author.where(name: huge).to_a
    finds = Pelton.run { Pelton.map(["ann@example.com", huge, "bob@example.com"]) { |email| Author.find_by(email: email) } }

    assert_equal [ann, nil, bob], finds
    begin
      assert_empty Author.where("name = ?", huge).to_a
    rescue Pelton::LimitError => error
      assert_equal [:mysql, false], [database.database_type, error.retriable?]
      assert_match(/max_allowed_packet/, error.message)
    end
    assert_equal 3, Author.count
  end

  # The row is written, or refused by a limit that the error names; other fibers do not notice.
  def test_a_long_text_that_is_written
    huge = "x" * 20_000_000
    written, found = Pelton.run do
      tasks = [Pelton.spawn { create(huge) }, Pelton.spawn { Array.new(20) { Author.find_by(email: "ann@example.com") }.uniq }]
      tasks.map(&:await)
    end

    assert_equal [ann], found
    assert_equal (database.database_type == :mysql) ? :refused : huge.hash, written
    assert_equal :refused, create("\u00e9" * 20_000_000) if database.database_type == :mysql
    assert_equal "new", Author.create!(name: "new").reload.name
  end

  # A placeholder of MySQL's would make a number of each token. And what is left out has broken an index.
  def test_no_value_is_changed_by_the_database
    assert_equal 0, Author.where("name = ?", 0).count unless database.database_type == :postgres
    assert_empty Author.insert_all([{id: ann.id, name: "Eve"}])
    assert_equal "Ann", ann.reload.name
    assert_raises(Sequel::DatabaseError) { Author.insert_all([{name: "x", age: 2**40}]) } unless database.database_type == :sqlite
    assert_equal 3, Author.count
  end

  def create(text)
    Author.create!(name: text).reload.name.hash
  rescue Pelton::LimitError => error
    assert_match(/max_allowed_packet/, error.message)
    refute_includes error.message, text[0, 100]
    :refused
  end

  class Kind < Pelton::Record::Model
    self.table_name = :kinds_of_keys
  end

  KINDS = {
    postgres: {uuid: %w[11111111-2222-3333-4444-555555555555], mood: %w[glad], inet: %w[10.0.0.1], macaddr: %w[08:00:2b:01:02:03], "varchar(5)": %w[short], bigint: [5], date: [Date.new(2020, 1, 1)]},
    mysql: {uuid: %w[11111111-2222-3333-4444-555555555555], "enum('glad')": %w[glad], inet6: %w[::1], "varchar(5) charset latin1": %w[short], bigint: [5], year: [2020], date: [Date.new(2020, 1, 1)]},
    sqlite: {uuid: %w[11111111-2222-3333-4444-555555555555], "varchar(5)": %w[short], bigint: [5], date: [Date.new(2020, 1, 1)]}
  }.freeze
  STRANGE = ["garbage", "", "0", "1", 0, 1, -1, 1.5, true, "a\0b", "\xFF", "\u{1f600}", "x" * 100_000, Time.at(0), :glam].freeze

  # Whatever the key's type is: what no row can have is not found, alone and beside others.
  def test_keys_of_each_type
    KINDS.fetch(database.database_type).each do |type, (good)|
      kind_of_key(type)
      Kind.insert_all!([{id: good}])
      STRANGE.each do |key|
        assert_raises(Pelton::Record::NotFound, "#{type} #{key.inspect[0, 50]}") { Kind.find(key) }
        assert_nil Kind.find_by(id: key), "#{type} #{key.inspect[0, 50]}"
        found = Pelton.run { Pelton.map([good, key, good]) { |one| Kind.find_by(id: one)&.id } }

        assert_equal [good, nil, good], found, "#{type} #{key.inspect[0, 50]}"
      end
      assert_equal good, Kind.find(good).id
    end
  ensure
    database.drop_table?(:kinds_of_keys)
  end

  private

  def kind_of_key(type)
    database.drop_table?(:kinds_of_keys)
    database.run("DROP TYPE IF EXISTS mood; CREATE TYPE mood AS ENUM ('glad')") if type == :mood
    database.run("CREATE TABLE kinds_of_keys (id #{type} PRIMARY KEY)")
    database.schema(:kinds_of_keys, reload: true)
    Kind.send(:forget_table)
  end

  public

  {Postgres: [:postgres_address, "pg"], MariaDB: [:mariadb_address, "trilogy"]}.each do |name, (address, driver)|
    const_set(name, Class.new(self) do
      define_method(:connect_database) do
        require driver
        connect(send(address))
      end
    end)
  end
end
