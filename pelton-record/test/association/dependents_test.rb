# frozen_string_literal: true

require_relative "../support/blog"

class AssociationDependentsTest < PeltonTest
  include Blog

  def test_destroy_and_delete_all
    post = Post.create!(title: "x", author: ann)
    comment = post.comments.create!(text: "c")
    ann.destroy

    refute Post.exists?(post.id)
    refute Comment.exists?(comment.id)
  end

  def test_nullify_and_restrict
    post = Post.create!(title: "x", author: ann)
    owner = lambda do |dependent|
      name = :"Owner#{dependent.to_s.delete("_")}"
      model(name) do
        self.table_name = "authors"
        has_many :posts, class_name: "Blog::Post", foreign_key: :author_id, dependent: dependent
      end
    end
    refused = owner.call(:restrict_with_error).find(ann.id)

    assert_equal false, refused.destroy
    assert_equal ["Cannot delete record because dependent posts exist"], refused.errors.full_messages
    assert_raises(Pelton::Record::Association::Dependents::Restricted) { owner.call(:restrict_with_exception).find(ann.id).destroy }
    owner.call(:nullify).find(ann.id).destroy

    assert_nil post.reload.author_id
    assert_raises(ArgumentError) { owner.call(:nonsense) }
  end
end
