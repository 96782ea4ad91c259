# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebParamsSchemaTest < PeltonTest
  SCHEMA = Pelton::Web::Params::Schema.new do
    required :title, :string, max: 5
    optional :published, :boolean, default: false
    optional :tags, [:integer], max: 2
    optional :author do
      required :name
    end
  end

  def test_what_is_declared_is_converted_and_all_else_left_out
    assert_equal({title: "T", published: true, tags: [1], author: {name: "A"}},
      SCHEMA.read("title" => "T", "published" => "1", "tags" => ["1"], "author" => {"name" => "A",
                                                                                    "admin" => "1"}, "admin" => "1"))
    assert_equal({title: "T", published: false}, SCHEMA.read("title" => "T", "tags" => ""))
  end

  def test_all_mistakes_are_told
    error = assert_raises(Pelton::Web::Params::Invalid) do
      Pelton::Web::Params.new({"post" => {"title" => "too long", "published" => "maybe", "tags" => %w[a],
                                          "author" => {}}}).require(:post).permit(SCHEMA)
    end

    assert_equal({"post[title]" => "is too long: 5 characters at most", "post[published]" => "must be true or false",
                  "post[tags]" => "contains an element that must be a whole number",
                    "post[author][name]" => "is missing"}, error.errors)
  end

  def test_a_group_that_is_none
    assert_equal({"author" => "must be a group of fields"},
      assert_raises(Pelton::Web::Params::Invalid) { SCHEMA.read("title" => "T", "author" => "x") }.errors)
  end

  def test_mistakes_of_the_declaration
    assert_raises(ArgumentError) { Pelton::Web::Params::Schema.new { required :a, :text } }
    assert_raises(ArgumentError) { Pelton::Web::Params::Schema.new { required :a, :integer, max: 5 } }
  end
end
