# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebResponseTest < PeltonTest
  def test_a_body_is_an_answer
    response = Pelton::Web::Response.new

    refute_predicate response, :answered?
    assert_raises(Pelton::Web::AnswerError) { response.finish }
    response.body = "text"

    assert_predicate response, :answered?
    assert_equal [200, {}, ["text"]], response.finish
  end

  def test_plain_text
    response = Pelton::Web::Response.new.tap { |one| one.text("text") }

    assert_equal response.finish, Pelton::Web::Response.plain("text")
  end
end
