# frozen_string_literal: true

require_relative "../support/blog"

class ReflectionTest < PeltonTest
  include Blog

  def test_a_class_that_is_not_there
    lost = model(:Lost) do
      self.table_name = "authors"
      has_many :nowhere
    end
    assert_includes assert_raises(NameError) { lost.association_reflection(:nowhere).associated_class }.message, "class_name:"
  end
end
