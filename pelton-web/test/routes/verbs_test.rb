# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebRoutesVerbsTest < PeltonTest
  FORM = "application/x-www-form-urlencoded"

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

  def test_a_form_names_another_verb
    both = verbs("POST" => "created", "DELETE" => "deleted")

    assert_equal "deleted", both["POST"].call(post("_method=delete"), {})
    assert_equal "created", both["POST"].call(post("_method=get"), {})
    assert_equal "created", both["POST"].call(post("a=b"), {})
    assert_equal "created", both["POST"].call(post("_method[]=delete"), {})
    assert_equal "created", both["POST"].call(post("_method=delete", "CONTENT_TYPE" => "application/json"), {})
    assert_equal "created", both["POST"].call(post("", "QUERY_STRING" => "_method=delete"), {})
  end

  def test_the_action_sees_the_verb_of_the_form
    env = post("_method=PATCH")
    verbs("PATCH" => "changed")["POST"].call(env, {})

    assert_equal %w[PATCH POST], env.values_at("REQUEST_METHOD", "rack.methodoverride.original_method")
  end

  def test_a_form_is_not_read_where_it_can_name_nothing
    input = Object.new # has no method read

    assert_equal "created", verbs("POST" => "created")["POST"].call({"rack.input" => input, "CONTENT_TYPE" => FORM}, {})
  end

  def test_what_is_allowed
    assert_equal %w[GET DELETE HEAD], verbs("GET" => 1, "DELETE" => 2).allowed
    assert_nil verbs("DELETE" => 2)["PUT"]
  end

  def test_an_endpoint_for_all_others
    all = verbs(nil => "all", "GET" => "got")

    assert_equal %w[got all all], %w[GET PUT POST].map { |verb| all[verb].call(post(""), {}) }
  end

  def test_the_next_endpoint_is_tried_where_one_does_not_take_the_request
    verbs = Pelton::Web::Routes::Verbs.new
    [nil, "second", "third"].each { |answer| verbs.add("GET", ->(*) { answer }) }
    verbs.compile

    assert_equal "second", verbs["GET"].call({}, {})
  end

  private

  def verbs(answers)
    Pelton::Web::Routes::Verbs.new.tap do |verbs|
      answers.each { |verb, answer| verbs.add(verb, ->(*) { answer }) }
      verbs.compile
    end
  end

  def post(body, **env)
    {"REQUEST_METHOD" => "POST", "CONTENT_TYPE" => FORM, "rack.input" => StringIO.new(body)}.merge(env.transform_keys(&:to_s))
  end
end
