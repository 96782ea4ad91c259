# frozen_string_literal: true

require_relative "support/blog"

class TableTest < PeltonTest
  include Blog

  module Shop
    def self.table_name_prefix = "shop_"

    class Item < Pelton::Record::Model
    end
  end

  class Invoice < Pelton::Record::Model
    class Line < Pelton::Record::Model
    end
  end

  class ApplicationRecord < Pelton::Record::Model
    self.abstract_class = true
  end

  class Person < ApplicationRecord
  end

  def test_names
    assert_equal %i[authors shop_items invoice_lines people], [Author, Shop::Item, Invoice::Line, Person].map(&:implicit_table_name)
    assert_equal :shop_items, Shop::Item.table_name
  end

  def test_a_name_of_its_own
    writer = model(:Writer) { self.table_name = "authors" }

    assert_equal ann.id, writer.find_by(name: ann.name).id
    assert_equal :authors, writer.table_name
  end

  # As after a boot: the first fiber waits for the columns.
  def test_fibers_that_use_a_model_at_once_for_the_first_time
    id = ann.id
    uses = [->(model) { model.new(name: "Bob").age }, ->(model) { model.find(id).name }, ->(model) { model.where(name: "Ann").count }, ->(model) { model.column_names.first },
      ->(model) { model.new[:name] }, ->(model) { model.create!(name: "Cid").id.positive? }, lambda(&:primary_key), ->(model) { Class.new(model).new.age }]
    expected = uses.map { |use| use.call(writer) }
    Pelton.run do
      uses.size.times do |first|
        slow = writer.tap { |model| model.define_singleton_method(:get_db_schema) { |*| sleep(0.001).then { super() } } }

        assert_equal expected, uses.rotate(first).map { |use| Pelton.spawn { use.call(slow) } }.map(&:await).rotate(-first)
      end
    end
  end

  # A limit of time, say, that passes while the columns are read.
  def test_a_model_whose_columns_could_not_be_read_is_read_again
    slow = writer.tap { |model| model.define_singleton_method(:get_db_schema) { |*| sleep(0.05).then { super() } } }
    Pelton.run do
      assert_raises(Pelton::TimeoutError) { Pelton.timeout(0.001) { slow.new } }
      assert_equal "Bob", slow.new(name: "Bob").name
    end
  end

  def test_a_model_may_be_defined_before_a_database_is_connected
    assert_equal "Author has no database: call Pelton::Record.connect first\n1\n", ruby_output(<<~RUBY, gems: true)
      require "pelton/record"
      class Author < Pelton::Record::Model
        has_many :posts
        validates :name, presence: true
      end
      class Post < Pelton::Record::Model
        belongs_to :author
      end
      begin
        Author.count
      rescue Pelton::Record::Error => error
        puts error.message
      end
      db = Pelton::Record.connect("sqlite::memory:")
      db.create_table(:authors) { primary_key :id; String :name }
      db.create_table(:posts) { primary_key :id; Integer :author_id }
      Author.create!(name: "Ann").posts.create!
      puts Author.first.posts.size
    RUBY
  end

  def test_a_table_that_is_missing
    error = assert_raises(Pelton::Record::Error) { model(:Nowhere).count }

    assert_match(/Nowhere has no table .*nowheres: create it, or set self.table_name/, error.message)
    refute_predicate TableTest::Nowhere, :table_exists?
    table(:nowheres) { String :name }

    assert_equal 0, TableTest::Nowhere.count
  end

  def test_an_abstract_class_has_no_table
    table(:people) { String :name }

    assert_equal 0, Person.count
    assert_predicate ApplicationRecord, :abstract_class?
    assert_raises(Pelton::Record::Error) { ApplicationRecord.count }
  end

  def test_a_primary_key_of_another_name
    database.drop_table?(:countries)
    database.create_table(:countries) do
      String :code, primary_key: true, size: 2
      String :name
    end
    country = model(:Country) { self.primary_key = :code }
    italy = country.create!(code: "it", name: "Italy")

    assert_equal [italy, "it", "it"], [country.find("it"), italy.id, italy.to_param]
    italy.update!(name: "Italia")

    assert_equal "Italia", country.find("it").name
  end

  def test_a_key_of_two_columns
    seat = seats
    seat.create!(line: 1, number: 2, taken_by: "Ann")

    assert_equal "Ann", seat.find([1, 2]).taken_by
    assert_raises(Pelton::Record::NotFound) { seat.find([1, 3]) }
  end

  def test_another_database_is_another_table
    ann
    connect
    database = Pelton::Record.database
    database.create_table(:authors) do
      primary_key :id
      String :other
    end

    assert_equal %w[id other], Author.column_names
    assert_equal 0, Author.count
  end

  private

  def writer = model(:Writer) { self.table_name = "authors" }
end
