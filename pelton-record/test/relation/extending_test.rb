# frozen_string_literal: true

require "test_helper"
require_relative "../support/blog"

class ExtendingTest < PeltonTest
  include Blog

  Pages = Module.new { def sheet(number, size: 2) = limit(size).offset(size * (number - 1)) }

  def setup
    super
    %w[Ann Bob Cid].each { |name| Author.create!(name: name) }
  end

  def test_a_module
    pages = Author.order(:name).extending(Pages)

    assert_equal [%w[Ann Bob], %w[Cid]], [1, 2].map { |number| pages.sheet(number).pluck(:name) }
    assert_equal %w[Cid], pages.where(name: "Cid").sheet(1).map(&:name)
    refute_respond_to Author.order(:name), :sheet
  end

  def test_a_block
    loud = Author.extending { define_method(:names) { pluck(:name).map(&:upcase) } }

    assert_equal %w[BOB], loud.where(name: "Bob").names
    assert_equal [Author.all, 2], [Author.all.extending, loud.extending(Pages).sheet(1).names.size]
  end

  def test_a_scope_s_block
    scoped = model(:Extended) do
      self.table_name = "authors"
      scope(:short, -> { where("LENGTH(name) < ?", 4) }) { define_method(:initials) { pluck(:name).map { |name| name[0] } } }
    end

    assert_equal %w[A B C], scoped.short.initials.sort
    assert_equal %w[A], scoped.short.where(name: "Ann").initials
  end

  def test_an_association_s_block
    writer = model(:ExtendedWriter) do
      self.table_name = "authors"
      has_many(:posts, class_name: "Blog::Post", foreign_key: :author_id) { define_method(:titled) { |text| where(title: text) } }
      has_many(:tags, through: :posts) { define_method(:named) { pluck(:name) } }
    end
    ann = writer.find_by(name: "Ann")
    post = Post.create!(title: "One", author_id: ann.id)
    post.tags.create!(name: "ruby")

    assert_equal [[post], ["ruby"]], [ann.posts.titled("One").to_a, ann.tags.named]
    assert_equal [post], ann.posts.where(id: post.id).titled("One").to_a
  end
end
