# frozen_string_literal: true

require_relative "support/blog"

class InheritanceTest < PeltonTest
  include Blog

  class Animal < Pelton::Record::Model
    scope :named, ->(name) { where(name: name) }
  end

  class Dog < Animal
  end

  class Puppy < Dog
  end

  class Cat < Animal
    def sound = "miaow"
  end

  def setup
    super
    table(:animals) do
      String :type
      String :name
    end
    Animal.dataset
    @dog, @puppy, @cat, @thing = [Dog, Puppy, Cat, Animal].map { |kind| kind.create!(name: kind.name.demodulize) }
  end

  def test_rows_come_as_their_class
    assert_equal [@dog, @puppy, @cat, @thing], Animal.order(:id).to_a
    assert_equal "miaow", Animal.find(@cat.id).sound
    assert_equal [Dog, Puppy, Cat, Animal], Animal.order(:id).map(&:class)
    assert_equal [Dog.name, nil], [@dog.type, @thing.type]
  end

  def test_a_class_sees_its_own
    assert_equal [@dog, @puppy], Dog.order(:id).to_a
    assert_equal [1, 1, 4], [Puppy.count, Cat.count, Animal.count]
    assert_equal @puppy, Dog.find(@puppy.id)
    assert_raises(Pelton::Record::NotFound) { Dog.find(@cat.id) }
    assert_nil Dog.find_by(name: "Cat")
    assert_equal [@puppy], Dog.named("Puppy").to_a
    assert_equal :animals, Puppy.table_name
  end

  def test_merged_finds_have_their_class
    found = Pelton.run { [@dog, @cat].map { |one| Pelton.spawn { Animal.find(one.id) } }.map(&:await) }

    assert_equal [@dog, @cat], found
  end

  def test_a_row_of_a_class_that_is_no_model_here
    Animal.where(id: @cat.id).update_all(type: "String")

    assert_match(/"String", which is no/, assert_raises(Pelton::Record::Error) { Animal.find(@cat.id) }.message)
  end

  def test_writing_and_becoming
    @cat.update!(name: "Tom")

    assert_equal "Tom", Cat.find(@cat.id).name
    assert_equal 1, Cat.update_all(name: "all")
    assert_instance_of Animal, @cat.becomes(Animal)
    @cat.destroy

    assert_equal 0, Cat.count
  end
end
