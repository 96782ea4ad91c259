# frozen_string_literal: true

require_relative "support/blog"

class StoreTest < PeltonTest
  include Blog

  def setup
    super
    @person = model(:Person) do
      self.table_name = "authors"
      store :email, accessors: [:color]
      attribute :name, :json
      store_accessor :name, :given, prefix: true
      store_accessor :name, :family, suffix: "name"
    end
  end

  def test_accessors
    person = @person.new(color: "red", name_given: "Ann")
    person.family_name = "Lee"
    assert person.save
    person = @person.find(person.id)
    assert_equal ["red", "Ann", "Lee", {"given" => "Ann", "family" => "Lee"}], [person.color, person.name_given, person.family_name, person.name]
    person.color = "blue"
    assert_equal [true, {"color" => "red"}], [person.changed?, person.email_was]
    assert_equal({"color" => "blue"}, person.tap(&:save!).reload.email)
  end

  def test_a_store_is_never_nil
    ann.update_columns(email: nil, name: nil)
    assert_equal [{}, nil, {}], [@person.find(ann.id).email, @person.find(ann.id).color, @person.new.email]
    refute @person.new.changed?
  end

  def test_no_marshal_and_no_yaml
    [Marshal, Class.new].each do |coder|
      assert_raises(ArgumentError) { @person.store(:name, coder: coder) }
    end
    person = @person.create!(color: "x")
    @database[:authors].where(id: person.id).update(name: "--- !ruby/object:Object {}\n")
    assert_raises(JSON::ParserError) { @person.find(person.id) }
  end
end
