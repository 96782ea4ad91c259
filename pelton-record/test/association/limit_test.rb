# frozen_string_literal: true

require_relative "../support/blog"

class AssociationLimitTest < PeltonTest
  include Blog

  class Page < Pelton::Record::Model
    self.table_name = "posts"
    default_scope { where(status: AssociationLimitTest.tenant) }
    belongs_to :writer, foreign_key: :author_id
    has_many :remarks, class_name: "Blog::Comment", foreign_key: :post_id
  end

  class Writer < Pelton::Record::Model
    self.table_name = "authors"
    has_many :pages, foreign_key: :author_id
    has_many :remarks, through: :pages
    has_many :namesakes, ->(writer) { where(title: writer.name) }, class_name: "Blog::Post", foreign_key: :author_id
    has_many :fresh, -> { where(title: AssociationLimitTest.title) }, class_name: "Blog::Post", foreign_key: :author_id
  end

  class << self
    attr_accessor :tenant, :title
  end

  def setup
    super
    [0, 1].each { |tenant| Post.create!(author: ann, title: "of #{tenant}", status: tenant).comments.create!(text: "on #{tenant}") }
    AssociationLimitTest.tenant = 0
    @writer = Writer.find(ann.id)
  end

  # Another tenant's rows would be seen otherwise.
  def test_a_scope_is_evaluated_for_each_query
    [0, 1, 0].each do |tenant|
      AssociationLimitTest.tenant = tenant
      AssociationLimitTest.title = "of #{tenant}"
      writer = Writer.find(ann.id)

      assert_equal [["of #{tenant}"]] * 3, [writer.pages, Writer.includes(:pages).first.pages, Writer.eager_load(:pages).first.pages].map { |pages| pages.map(&:title) }
      assert_equal [["on #{tenant}"]] * 2, [writer.remarks, Writer.preload(:remarks).first.remarks].map { |remarks| remarks.map(&:text) }
      assert_equal ["of #{tenant}"], writer.fresh.map(&:title)
      assert_equal [["of #{tenant}"], ["on #{tenant}"]], [Writer.joins(:pages).pluck("posts.title"), Writer.joins(:remarks).pluck("comments.text")]
    end
    AssociationLimitTest.tenant = 2

    assert_equal [ann.id], Writer.where.missing(:pages).ids
    assert_equal 2, Page.unscoped { Writer.find(ann.id).pages.size }
  end

  def test_a_scope_may_depend_on_the_object
    Post.create!(author: ann, title: "Ann")
    Post.create!(author: bob, title: "Bob")
    expected = [["Ann"], ["Bob"]]

    assert_equal expected, Writer.order(:id).map { |one| one.namesakes.map(&:title) }
    assert_equal expected, Writer.order(:id).includes(:namesakes).map { |one| one.namesakes.map(&:title) }
    assert_match(/depends on the object/, assert_raises(ArgumentError) { Writer.joins(:namesakes).to_a }.message)
    assert_equal "Ann", @writer.namesakes.build.title
  end

  def test_two_fibers_of_two_tenants
    found = Pelton.run { Pelton.map([0, 1] * 20) { |tenant| Page.unscoped.where(status: tenant).scoping { Page.pluck(:title) } } }

    assert_equal [["of 0"], ["of 1"]] * 20, found
  end
end
