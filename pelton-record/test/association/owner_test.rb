# frozen_string_literal: true

require_relative "../support/blog"

class OwnerTest < PeltonTest
  include Blog

  def test_an_object_keeps_its_collections
    assert_same ann.posts, ann.posts
    refute_same ann.posts, ann.tap(&:reload).posts
    assert_match(/no association :nobody/, assert_raises(ArgumentError) { ann._collection(:nobody) }.message)
  end

  def test_what_is_invalid_below_is_invalid_above
    author = Author.new(name: "x")
    author.posts.build(title: "y").build_author

    refute_predicate author, :valid?
  end

  # Associations to objects that are invalid without a name.
  def careless(**options)
    model(:Careless) do
      self.table_name = "posts"
      belongs_to :author, class_name: "Blog::Author", optional: true, validate: false, **options
      has_many :authors, class_name: "Blog::Author", foreign_key: :posts_count, validate: false, **options
      has_one :editor, class_name: "Blog::Author", foreign_key: :age, validate: false, **options
    end
  end

  def test_what_is_invalid_is_left_out_without_validation
    post = careless.new(title: "x")
    made = [post.build_author, post.authors.build, post.build_editor]

    assert_equal [true, {}], [post.save, post.errors.to_hash]
    assert_equal [[true] * 3, nil, 0], [made.map(&:new_record?), post.reload.author_id, Author.count]
  end

  def test_what_is_saved_with_it_is_not_validated_either
    post = careless(autosave: true).new(title: "x")
    made = [post.build_author, post.authors.build, post.build_editor]

    assert post.save
    assert_equal [[true] * 3, made.first.id], [made.map(&:persisted?), post.reload.author_id]
    post.author.email = "x"
    post.save!

    assert_equal "x", made.first.reload.email
  end
end
