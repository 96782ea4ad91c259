# frozen_string_literal: true

require_relative "../support/blog"

class SingleTest < PeltonTest
  include Blog

  def test_an_optional_parent_that_is_invalid_keeps_the_object_from_being_saved
    note = model(:Leaflet) do
      self.table_name = "posts"
      belongs_to :author, class_name: "Blog::Author", optional: true
    end

    refute note.new(title: "x", author: Author.new).save
    assert_raises(Pelton::Record::NotSaved) { note.new(title: "x", author: Author.new).save! }
    assert_equal 0, note.where(title: "x").count
  end

  def test_new_parents_are_saved_first
    post = Post.new(title: "x", author: Author.new(name: "Both"))
    post.save!

    assert_equal "Both", Post.find(post.id).author.name
    refute Post.new(title: "x", author: Author.new).save
    built = Post.new(title: "y")
    built.build_author(name: "Built")
    built.save!

    assert_equal "Built", built.reload.author.name
    created = Post.new(title: "z")
    created.create_author!(name: "Created")

    assert_equal created.author_id, created.author.id
  end

  def test_new_children_are_saved_after
    author = Author.new(name: "x")
    author.build_profile(bio: "b")
    author.save!

    assert_equal "b", Author.find(author.id).profile.bio
  end

  def test_reading_again
    post = Post.create!(title: "x", author: ann)
    Author.where(id: ann.id).update_all(name: "new")

    assert_equal %w[Ann new], [post.author.name, post.reload_author.name]
  end

  def test_what_is_replaced_goes_as_dependent_says
    {destroy: [%w[2], []], delete: [%w[2], []], nullify: [%w[1 2], %w[1 2]]}.each do |dependent, (replaced, taken)|
      Profile.dataset.delete
      person = model(:Person) do
        self.table_name = "authors"
        has_one :profile, dependent: dependent, class_name: "Blog::Profile", foreign_key: :author_id
      end.find(ann.id)
      %w[1 2].each { |bio| person.create_profile!(bio: bio) }

      assert_equal replaced, Profile.order(:id).pluck(:bio), dependent
      assert_equal 1, Profile.where(author_id: ann.id).count
      person.profile = nil
      assert_equal taken, Profile.order(:id).pluck(:bio), dependent
      person.profile = Profile.new(bio: "3")
      person.update!(profile: Profile.new(bio: "4"))
      assert_equal ["4", dependent == :nullify], [person.reload.profile.bio, Profile.exists?(bio: "3")]
    end
  end
end
