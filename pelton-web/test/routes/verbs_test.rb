# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebRoutesVerbsTest < PeltonTest
  def test_head_is_get_without_the_body
    closed = false
    body = Object.new.tap { |one| one.define_singleton_method(:close) { closed = true } }

    assert_equal [200, {"a" => "b"}, []], verbs("GET" => [200, {"a" => "b"}, body])["HEAD"].call({}, {})
    assert closed
    assert_equal({"content-length" => "3"}, verbs("GET" => [200, {}, %w[a bc]])["HEAD"].call({}, {})[1])
    assert_equal({}, verbs("GET" => [204, {}, []])["HEAD"].call({}, {})[1])
  end

  def test_head_of_its_own
    assert_equal :head, verbs("GET" => [200, {}, []], "HEAD" => :head)["HEAD"].call({}, {})
  end

  def test_what_is_allowed
    assert_equal %w[GET DELETE HEAD], verbs("GET" => 1, "DELETE" => 2).allowed
    assert_nil verbs("DELETE" => 2)["PUT"]
  end

  def test_an_endpoint_for_all_others
    all = verbs(nil => "all", "GET" => "got")

    assert_equal %w[got all all], %w[GET PUT POST].map { |verb| all[verb].call({}, {}) }
    assert_predicate all, :all?
  end

  def test_the_next_endpoint_is_tried_where_one_does_not_take_the_request
    verbs = Pelton::Web::Routes::Verbs.new
    [nil, "second", "third"].each { |answer| verbs.add("GET", ->(*) { answer }) }
    verbs.add("POST", ->(*) {})
    verbs.add(nil, ->(*) { "all" })
    verbs.compile

    assert_equal "second", verbs["GET"].call({}, {})
    assert_equal "all", verbs["POST"].call({}, {})
  end

  private

  def verbs(answers)
    Pelton::Web::Routes::Verbs.new.tap do |verbs|
      answers.each { |verb, answer| verbs.add(verb, ->(*) { answer }) }
      verbs.compile
    end
  end
end
