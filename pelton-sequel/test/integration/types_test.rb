# frozen_string_literal: true

require "pg"
require_relative "../support/sequel_databases"

# PostgreSQL's json, jsonb and array columns, in both directions: through datasets, bound values, prepared statements
# and models of Sequel.
module PostgresTypes
  include SequelDatabases

  VALUES = {
    document: {"a" => [1, 2.5, nil, true, "it's \u00e9 \\ \""], "b" => {"c" => {}}}, note: {"z" => 1},
    numbers: [1, nil, -2**31], bigs: [2**62],
    names: ["a,b", "it's \"x\"", "{}", "", nil, "NULL", "back\\slash", "\u00e9"], flags: [true, false],
    amounts: [BigDecimal("1.25")], days: [Date.new(2024, 2, 29)], matrix: [[1, 2], [3, 4]], ratios: [0.5]
  }.freeze

  def setup
    super
    @database = connect(postgres_address, pool: 2, prepared: prepared?)
    @database.extension :pg_json, :pg_array
    @database.drop_table?(:typed_items)
    @database.create_table(:typed_items) do
      primary_key :id
      column :document, :jsonb
      column :note, :json
      column :numbers, "integer[]"
      column :bigs, "bigint[]"
      column :names, "text[]"
      column :flags, "boolean[]"
      column :amounts, "numeric[]"
      column :days, "date[]"
      column :matrix, "integer[]"
      column :ratios, "double precision[]"
    end
    @items = @database[:typed_items]
    @model = Class.new(Sequel::Model(@items))
  end

  # pg's own encoder would write 16 digits.
  def test_floats_come_back_as_they_were
    [0.1 + 0.2, 1.0e300, 5e-324, Float::INFINITY, -0.0].each do |number|
      assert_equal number, @database.get(Sequel.cast(number, :float8))
    end
  end

  def test_datasets
    id = @items.insert(wrapped)
    3.times { assert_equal VALUES, plain(@items.first(id: id)) }
    3.times { assert_equal id, @items.where(names: Sequel.pg_array(VALUES[:names], :text)).get(:id) }
    3.times { assert_equal id, @items.where(document: Sequel.pg_jsonb(VALUES[:document])).get(:id) }
    3.times do |i|
      @items.where(id: id).update(numbers: Sequel.pg_array([i], :integer), document: Sequel.pg_jsonb("i" => i))
    end

    assert_equal [[2], {"i" => 2}], plain(@items.select(:numbers, :document).first).values
  end

  def test_models
    item = @model.create(wrapped)
    3.times { assert_equal VALUES, plain(@model[item.id].values) }
    @model[item.id].update(names: %w[x y], document: {"n" => nil})
    found = @model[item.id]

    assert_equal %w[x y], found.names.to_a
    assert_equal({"n" => nil}, found.document.to_h)
    assert_nil @model.create(names: nil, document: nil).refresh.document
    assert_empty @model.create(names: []).refresh.names
  end

  def test_named_statements
    id = @items.insert(wrapped)
    by_id = @items.where(id: :$id).prepare(:first, :typed_by_id)
    3.times { assert_equal VALUES, plain(by_id.call(id: id)) }
  end

  def test_json_that_is_no_object
    values = ["text", 1, 1.5, true, false, [], [1], {}]
    @database.wrap_json_primitives = true
    values.each { |value| @items.insert(document: Sequel.pg_jsonb_wrap(value)) }

    assert_equal values,
      @items.order(:id).select_map(:document).map { |value| value.respond_to?(:__getobj__) ? value.__getobj__ : value }
  end

  private

  def wrapped
    types = {numbers: :integer, bigs: :bigint, names: :text, flags: :boolean, amounts: :numeric, days: :date,
             matrix: :integer, ratios: "double precision"}
    VALUES.to_h do |name, value|
      next [name, Sequel.pg_jsonb(value)] if name == :document
      next [name, Sequel.pg_json(value)] if name == :note
      [name, Sequel.pg_array(value, types.fetch(name))]
    end
  end

  # Without the classes of Sequel's extensions.
  def plain(row) = row.except(:id).transform_values { |value| value.respond_to?(:to_hash) ? value.to_hash : value.to_a }
end

class PreparedTypesTest < PeltonTest
  include PostgresTypes

  def prepared? = true
end

# For pgbouncer.
class UnpreparedTypesTest < PeltonTest
  include PostgresTypes

  def prepared? = false

  def test_nothing_is_prepared
    3.times { @items.insert(wrapped).then { |id| @model[id] } }

    assert_equal 0, @database[:pg_prepared_statements].where(Sequel.lit("statement LIKE '%typed_items%'")).count
  end
end
