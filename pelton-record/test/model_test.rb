# frozen_string_literal: true

require_relative "support/blog"

class ModelTest < PeltonTest
  include Blog

  def test_it_is_sequel_s_model
    assert_operator Author, :<, Sequel::Model
    assert_kind_of Sequel::Dataset, Author.dataset
    assert_equal ann, Author[ann.id]
    assert_equal ann, Author.dataset.with_pk(ann.id)
  end

  def test_sequel_s_own_models_are_as_they_were
    plain = Class.new(Sequel::Model(database[:authors]))
    ann

    assert_equal "Ann", plain.where(name: "Ann").first.name
    assert_kind_of Sequel::Dataset, plain.where(name: "Ann")
    assert_raises(Sequel::ValidationFailed) { Class.new(plain) { def validate = errors.add(:name, "bad") }.new.save }
  end
end
