# frozen_string_literal: true

require_relative "../support/blog"

class AssociationLookupTest < PeltonTest
  include Blog

  class Inner < Pelton::Record::Model
    self.table_name = "posts"
    belongs_to :author, class_name: "Blog::Author"
    belongs_to :pelton_test, optional: true
    belongs_to :nobody, optional: true
  end

  class Child < Inner
  end

  def test_classes_are_found_by_name
    assert_equal Author, Inner.association_reflection(:author).associated_class
    assert_equal PeltonTest, Inner.association_reflection(:pelton_test).associated_class
    assert_match(/there is no class .*Nobody. Name it by class_name:/, assert_raises(NameError) { Inner.association_reflection(:nobody).associated_class }.message)
  end

  def test_associations_are_inherited
    Inner.has_many :late, class_name: "Blog::Comment", foreign_key: :post_id

    assert_equal Comment, Child.association_reflection(:late).associated_class
    assert_nil Child.association_reflection(:unknown)
  end
end
