# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebParamsTest < PeltonTest
  def params(values = {}, path = []) = Pelton::Web::Params.new(values, path: path)

  def test_as_they_came
    all = params("a" => "1", "b" => ["x"])

    assert_equal "1", all[:a]
    assert_equal ["x"], all["b"]
    assert_nil all[:c]
    assert_equal true, all.key?(:a)
    assert_equal false, all.key?(:c)
    assert_equal({"a" => "1", "b" => ["x"]}, all.to_h)
  end

  def test_a_default_is_for_what_is_missing_only
    assert_equal 1, params.integer(:page, default: 1)
    assert_nil params("page" => "").integer(:page, default: nil)
    assert_equal ["page"], invalid { params("page" => "x").integer(:page, default: 1) }.errors.keys
    assert_equal({"page" => "is missing"}, invalid { params.integer(:page) }.errors)
  end

  def test_a_variable_of_the_path_that_is_wrong_is_not_found
    assert_raises(Pelton::Web::NotFound) { params({"id" => "x"}, ["id"]).integer(:id) }
  end

  def test_groups_of_fields
    all = params("post" => {"title" => "T", "tags" => {"$ne" => "1"}, "admin" => "1"})

    assert_equal({title: "T"}, all.require(:post).permit(:title, :body))
    assert_equal ["post[tags]"], invalid { all.require(:post).permit(:tags) }.errors.keys
    assert_equal ["post[title]"], invalid { all.require(:post).integer(:title) }.errors.keys
    invalid { params("post" => "x").require(:post) }
    invalid { params.require(:post) }
  end

  def test_lists_and_enums
    assert_equal [1, 2], params("ids" => %w[1 2]).array(:ids, :integer)
    assert_equal :name, params("sort" => "name").enum(:sort, %i[name age])
    invalid { params("ids" => %w[1 x]).array(:ids, :integer) }
    invalid { params("ids" => "1").array(:ids, :integer) }
    invalid { params("ids" => %w[1 2]).array(:ids, :integer, max: 1) }
    invalid { params("sort" => "drop table").enum(:sort, %w[name age]) }
  end

  def test_an_unknown_option_is_the_program_s_mistake
    assert_raises(ArgumentError) { params("a" => "1").integer(:a, max: 5) }
  end

  def test_the_answer_names_all
    error = Pelton::Web::Params::Invalid.new("a" => "is missing", "b" => "is too long")

    assert_equal 422, error.status
    assert_equal "The request cannot be processed: a is missing; b is too long.", error.message
    assert_equal({errors: [{name: "a", detail: "is missing"}, {name: "b", detail: "is too long"}]}, error.members)
  end

  private

  def invalid(&block) = assert_raises(Pelton::Web::Params::Invalid, &block)
end
