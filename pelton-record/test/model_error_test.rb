# frozen_string_literal: true

require_relative "support/blog"

class ModelErrorTest < PeltonTest
  include Blog

  def test_the_messages_say_what
    author = Author.new

    assert_equal "Validation failed: Name can't be blank", assert_raises(Pelton::Record::Invalid) { author.save! }.message
    assert_equal author, assert_raises(Pelton::Record::NotSaved) { author.save! }.record
    assert_match(/:abort/, Pelton::Record::NotSaved.new(author).message)
    assert_predicate Pelton::Record::Stale.new(ann), :retriable?
    assert_operator Pelton::Record::Forbidden, :<, Pelton::Error
  end

  # Pelton::Web answers with them.
  def test_errors_that_a_request_has_caused_have_a_status
    errors = [assert_raises(Pelton::Record::NotFound) { Author.find(-1) }, assert_raises(Pelton::Record::Invalid) { Author.create! },
      Pelton::Record::Stale.new(ann), assert_raises(Pelton::Record::Forbidden) { Author.new("secret" => 1) },
      assert_raises(Pelton::Record::BadValue) { Author.where("name = ?", {"a" => "b"}).to_a }]

    assert_equal [404, 422, 409, 400, 400], errors.map(&:web_status)
    assert_equal "Validation failed: Name can't be blank", errors[1].web_detail
    refute_respond_to Pelton::Record::ReadOnly.new, :web_status
  end
end
