# frozen_string_literal: true

require_relative "support/blog"

class AttributeTypesTest < PeltonTest
  include Blog

  def setup
    super
    table(:documents) do
      Integer :number
      column :data, :text
    end
    @model = model(:Document) { attribute :data, :json, default: -> { {} } }
  end

  def test_json
    document = @model.create!(data: {"a" => [1, nil, "x"]})

    assert_equal({"a" => [1, nil, "x"]}, document.data)
    assert_equal({"a" => [1, nil, "x"]}, @model.find(document.id).data)
    assert_equal({}, @model.create!.reload.data)
    assert_equal [{"a" => [1, nil, "x"]}, {}], @model.order(:id).pluck(:data)
    assert_equal document, @model.find_by(data: {"a" => [1, nil, "x"]})
    assert_equal 1, @model.where(id: document.id).update_all(data: [1])
    assert_equal [1], document.reload.data
  end

  def test_changes_in_place_are_saved
    document = @model.create!(data: {"a" => 1})

    refute_predicate document, :changed?
    document.data["b"] = 2

    assert_equal [{"a" => 1}, {"a" => 1, "b" => 2}], document.changes["data"]
    document.save!

    refute_predicate document, :changed?
    assert_equal({"a" => 1, "b" => 2}, @model.find(document.id).data)
  end

  def test_json_makes_no_objects
    id = database[:documents].insert(data: '{"json_class":"File","^o":"File"}')

    assert_equal({"json_class" => "File", "^o" => "File"}, @model.find(id).data)
    id = database[:documents].insert(data: "not json")

    assert_raises(JSON::ParserError) { @model.find(id) }
  end

  def test_types_of_activemodel
    @model.attribute(:number, :integer)

    assert_equal 5, @model.new(number: "5").number
    assert_raises(ArgumentError) { @model.attribute(:other, :nonsense) }
  end
end
