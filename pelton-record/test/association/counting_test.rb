# frozen_string_literal: true

require_relative "../support/blog"

class CountingTest < PeltonTest
  include Blog

  def test_counters
    post = Post.create!(title: "x", author: ann)

    assert_equal [1, 1], [ann.posts_count, ann.reload.posts_count]
    post.update!(author: bob)

    assert_equal [0, 1], [ann, bob].map { |author| author.reload.posts_count }
    post.destroy

    assert_equal 0, bob.reload.posts_count
  end

  def test_touching
    ann.update_columns(updated_at: Time.at(0))
    post = Post.create!(title: "x", author: ann)

    assert_operator ann.reload.updated_at, :>, Time.at(0)
    ann.update_columns(updated_at: Time.at(0))
    post.reload.update!(title: "y")

    assert_operator ann.reload.updated_at, :>, Time.at(0)
  end
end
