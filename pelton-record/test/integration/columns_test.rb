# frozen_string_literal: true

require_relative "../support/record_databases"

# JSON and arrays in the database's own columns.
class ColumnsTest < PeltonTest
  include RecordDatabases

  def setup
    super
    require "pg"
    @database = connect(postgres_address)
    @database.create_table!(:papers) do
      primary_key :id
      column :plain, :json
      column :data, :jsonb, default: "{}"
      column :numbers, "integer[]"
      column :tags, "text[]", default: "{}"
      column :kept, :jsonb
    end
    @model = self.class.const_set(:Paper, Class.new(Pelton::Record::Model) { self.table_name = "papers" })
    @model.attribute :kept, :json, default: -> { {} }
  end

  def teardown
    self.class.send(:remove_const, :Paper)
    super
  end

  def test_json
    paper = @model.create!(plain: {"a" => [1, nil]}, data: {b: "x"}, kept: {"c" => 1})
    assert_equal [{"a" => [1, nil]}, {"b" => "x"}, {"c" => 1}], paper.reload.values_at(:plain, :data, :kept)
    assert_equal [{}, {}], @model.create!.reload.values_at(:data, :kept)
    paper.update!(data: [1, 2], plain: nil, kept: {"d" => nil})
    assert_equal [[1, 2], nil, {"d" => nil}], @model.find(paper.id).values_at(:data, :plain, :kept)
    assert_equal [[[1, 2], {"d" => nil}]], @model.where(id: paper.id).pluck(:data, :kept)
    assert_equal 1, @model.where(id: paper.id).update_all(data: {"e" => 1}, kept: {"f" => 2})
    assert_equal [{"e" => 1}, {"f" => 2}], paper.reload.values_at(:data, :kept)
    assert_equal paper, @model.find_by("data->>'e' = ?", "1")
    assert_equal({"data" => {"e" => 1}, "kept" => {"f" => 2}}, JSON.parse(paper.to_json(only: %i[data kept])))
  end

  def test_json_that_is_changed_in_place
    paper = @model.create!(data: {"a" => 1}, kept: {"a" => 1})
    paper.kept["b"] = 2
    assert_equal ["kept"], paper.changed
    paper.save!
    assert_equal({"a" => 1, "b" => 2}, paper.reload.kept)
    paper.data["b"] = 2
    paper.data_will_change!
    paper.save!
    assert_equal({"a" => 1, "b" => 2}, paper.reload.data)
  end

  def test_arrays
    paper = @model.create!(numbers: [1, "2", nil], tags: ["a", "b,c", 'q"\\'])
    assert_equal [[1, 2, nil], ["a", "b,c", 'q"\\']], paper.reload.values_at(:numbers, :tags)
    assert_equal [], @model.create!.reload.tags
    refute paper.changed?
    paper.update!(tags: paper.tags + ["d"])
    assert_equal ["a", "b,c", 'q"\\', "d"], @model.find(paper.id).tags
    assert_equal paper, @model.find_by("'d' = ANY(tags)")
    assert_equal paper, @model.where(tags: ["a", "b,c", 'q"\\', "d"]).first
    assert_equal [[1, 2, nil]], @model.where(id: paper.id).pluck(:numbers)
    assert_equal({"numbers" => [1, 2, nil]}, paper.as_json(only: :numbers))
    @model.insert_all([{tags: %w[x y], data: {"z" => [1]}}])
    assert_equal [%w[x y], {"z" => [1]}], @model.last.values_at(:tags, :data)
  end
end
