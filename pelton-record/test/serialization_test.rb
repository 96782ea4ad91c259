# frozen_string_literal: true

require_relative "support/blog"

class SerializationTest < PeltonTest
  include Blog

  def test_hashes_and_json
    Post.create!(title: "One", author: ann)
    assert_equal({"name" => "Ann", "age" => 20}, ann.serializable_hash(only: %i[name age]))
    assert_equal({"name" => "Ann", "posts" => [{"title" => "One"}]}, ann.as_json(only: :name, include: {posts: {only: :title}}))
    assert_equal '[{"name":"Ann"}]', Author.where(name: "Ann").to_json(only: :name)
    assert_equal({"author" => {"name" => "Ann"}}, ann.as_json(only: :name, root: true))
  end

  def test_the_class_is_no_attribute
    @database.alter_table(:tags) { add_column :type, String }
    labelled = model(:Labelled) { self.table_name = "tags" }
    assert_equal %w[id name], labelled.create!(name: "x").as_json.keys
  ensure
    @database.alter_table(:tags) { drop_column :type }
  end

  def test_names_for_caches
    ann.update_columns(updated_at: Time.utc(2020, 1, 2, 3, 4, 5))
    assert_equal ["blog/authors/new", "blog/authors/#{ann.id}"], [Author.new.cache_key, ann.cache_key]
    assert_equal "blog/authors/#{ann.id}-20200102030405000000", ann.reload.cache_key_with_version
    assert_equal ["blog/tags/1", nil], Tag.create!(name: "x").then { |tag| [tag.cache_key_with_version, tag.cache_version] }
    assert_equal ["blog/authors/author", ann], [ann.to_partial_path, ann.to_model]
  end
end
