# frozen_string_literal: true

require_relative "support/blog"

class AssignmentTest < PeltonTest
  include Blog

  # As ActionController::Parameters.
  class Parameters < Hash
    attr_writer :permitted

    def permitted? = @permitted || false
  end

  def test_what_the_program_names
    assert_equal 5, Author.new(age: 5).age
    assert_equal 6, Author.new.tap { |author| author.assign_attributes(age: 6) }.age
    assert_equal 7, Author.new.tap { |author| author.attributes = {age: 7} }.age
    assert_equal 8, Author.new(id: 8).id
  end

  def test_what_comes_from_outside
    assert_equal "Ann", Author.new("name" => "Ann").name
    error = assert_raises(Pelton::Record::Forbidden) { Author.new("name" => "Ann", "age" => 5) }

    assert_match(/does not permit "age" from outside: `permits :age`/, error.message)
    [-> { ann.update("id" => 7) }, -> { Author.create!("posts_count" => 7) }, -> { Author.where(age: 5).new("id" => 7) }, -> { ann.posts.build("author_id" => 7) }].each do |write|
      assert_raises(Pelton::Record::Forbidden, &write)
    end
    assert_equal "x", Class.new(Author).new("name" => "x").name
  end

  def test_parameters
    parameters = Parameters.new.merge!("age" => "5")

    assert_match(/permit/, assert_raises(Pelton::Record::Forbidden) { Author.new(parameters) }.message)
    parameters.permitted = true

    assert_equal 5, Author.new(parameters).age
  end

  def test_names_that_are_no_attributes
    assert_match(/no attribute :nonsense/, assert_raises(ArgumentError) { Author.new(nonsense: 1) }.message)
    assert_raises(ArgumentError) { Author.new("name") }
    assert_raises(ArgumentError) { Author.new(instance_variable_set: 1) } # standard:disable Style/QuotedSymbols
  end
end
