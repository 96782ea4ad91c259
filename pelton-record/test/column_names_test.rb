# frozen_string_literal: true

require_relative "support/record_databases"

class ColumnNamesTest < PeltonTest
  include RecordDatabases

  Names = Pelton::Record::ColumnNames
  MODEL = Pelton::Record::Model
  USUAL = File.read(File.expand_path("support/column_names.txt", __dir__)).split.map(&:to_sym)
  SPECIAL = %i[id lock_version created_at created_on updated_at updated_on].freeze # which have values of their own
  METHODS = (MODEL.instance_methods + MODEL.private_instance_methods).grep(/\A[a-z]\w*\z/)

  def setup
    super
    @database = connect_database
  end

  def teardown
    %i[Thing Part].each { |name| self.class.send(:remove_const, name) if self.class.const_defined?(name, false) }
    super
  end

  def connect_database = connect

  def test_attributes_of_all_names_that_are_free
    assert_operator USUAL.size, :>, 500
    names = (USUAL | METHODS).reject { |name| Names.taken?(name) } - SPECIAL

    assert_empty USUAL.select { |name| Names.taken?(name) }
    table(names)
    live(names.to_h { |name| [name, name] })
  end

  def test_attributes_of_all_other_names_by_an_alias
    names = METHODS.select { |name| Names.taken?(name) }
    table(names)
    refused = assert_raises(Pelton::Record::Error) { self.class::Thing.first }.message

    names.each { |name| assert_includes refused, "`#{name}`" }
    aliases = names.to_h { |name| [name, :"its_#{name}"] }
    aliases.each { |name, other| self.class::Thing.alias_attribute(other, name) }
    live(aliases)

    assert_equal [:stored, 7], [self.class::Thing.new(its_model: "x").tap { |one| one.its_model = "stored" }.its_model.to_sym, self.class::Thing.new.tap { |one| one[:db] = "7" }.its_db.to_i]
  end

  def test_what_is_refused_says_the_cure
    table(%i[model errors title])
    error = assert_raises(Pelton::Record::Error) { self.class::Thing.create!(title: "x") }

    assert_match(/ColumnNamesTest.*::Thing cannot have the attribute `model`, `errors`:.*alias_attribute :its_model, :model.*self.ignored_columns = \[:model, :errors\]/, error.message)
    assert_raises(Pelton::Record::Error) { self.class::Thing.first } # not only the first time
    whole = Class.new(MODEL) do
      self.table_name = "things"
      self.ignored_columns = %i[model errors]
    end
    whole.create!(title: "x")

    assert_equal ["x"], whole.pluck(:title)
    assert_raises(ArgumentError) { whole.attribute(:errors, :string) }
  end

  def test_a_method_of_the_programs_own_stays
    table(%i[title format])
    parent = Class.new(MODEL) do
      self.abstract_class = true
      def title = "#{self[:title]}!"
    end
    model = Class.new(parent) do
      self.table_name = "things"
      def format = "own"
    end

    assert_equal ["x!", "own", "y"], model.create!(title: "x", format: "y").then { |one| [one.title, one.format, one[:format]] }
  end

  private

  def table(names)
    @database.create_table!(:things) do
      primary_key :id
      names.each { |name| String name }
    end
    @database.create_table!(:parts) do
      primary_key :id
      Integer :thing_id
    end
    self.class.class_eval(<<~RUBY, __FILE__, __LINE__ + 1)
      class Thing < MODEL
      end

      class Part < MODEL
        belongs_to :thing
      end
    RUBY
  end

  # An object's life, by its columns' names and those of its attributes.
  def live(names)
    first = names.to_h { |name, _| [name, "#{name} 1"] }
    thing = self.class::Thing.create!(names.to_h { |name, attribute| [attribute, "#{name} 1"] })

    assert_equal first, self.class::Thing.find(thing.id).values.except(:id)
    thing = self.class::Part.create!(thing: thing).reload.thing
    names.each do |name, attribute|
      assert_equal "#{name} 1", thing.__send__(attribute), name
      thing.__send__(:"#{attribute}=", "#{name} 2")

      assert thing.attribute_changed?(name), name
      assert_equal ["#{name} 1", "#{name} 2"], thing.attribute_change(name), name
      assert_equal "#{name} 1", thing.attribute_was(name), name
    end
    assert_equal names.size, thing.changes.size
    assert thing.save
    assert_equal names.size, thing.saved_changes.size
    thing = self.class::Thing.find(thing.id)

    assert_equal names.to_h { |name, _| [name.to_s, "#{name} 2"] }, JSON.parse(thing.to_json).except("id", "its_type").transform_values(&:to_s)
    assert_equal names.keys.map(&:to_s), thing.attributes.keys - ["id"]
    names.each_key do |name|
      assert_equal [thing], self.class::Thing.where(name => "#{name} 2").to_a, name
      assert_equal ["#{name} 2"], self.class::Thing.order(name).pluck(name), name
    end
    names.each_slice(50) { |some| assert_equal thing, self.class::Thing.find_by(some.to_h { |name, _| [name, "#{name} 2"] }) }
    name, attribute = names.first
    thing.update!(attribute => "3")
    thing.update_columns(name => "4")

    assert_equal ["4", 1], [thing.reload[name], self.class::Thing.where(id: thing.id).update_all(name => "5")]
    assert thing.inspect
    assert thing.valid?
    assert_equal thing.attributes.except("id"), thing.dup.attributes.except("id")
    thing.destroy

    assert_equal 0, self.class::Thing.count
  end
end
