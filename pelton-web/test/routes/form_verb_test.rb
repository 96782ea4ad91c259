# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebRoutesFormVerbTest < PeltonTest
  FORM = "application/x-www-form-urlencoded"

  def test_a_form_names_another_verb
    assert_equal "DELETE", verb("_method=delete", "POST", "DELETE")
    assert_equal "PATCH", verb("_method=PATCH", "DELETE")
  end

  def test_what_names_none
    ["_method=get", "a=b", "_method[]=delete", ""].each { |body| assert_nil verb(body, "POST", "DELETE"), body }
    assert_nil verb("_method=delete", "POST", "DELETE", "CONTENT_TYPE" => "application/json")
    assert_nil verb("", "POST", "DELETE", "QUERY_STRING" => "_method=delete")
  end

  def test_a_form_is_not_read_where_it_can_name_nothing
    input = Object.new # has no method read

    assert_nil verb(nil, "POST", "GET", "rack.input" => input)
    assert_nil verb(nil, nil, "rack.input" => input)
    assert_raises(NoMethodError) { verb(nil, "POST", nil, "rack.input" => input) }
  end

  private

  # @param verbs [Array<String, nil>] of the routes at the path
  def verb(body, *verbs, **env)
    place = Pelton::Web::Routes::Verbs.new
    verbs.each { |one| place.add(one, ->(*) { one }) }
    env = {"REQUEST_METHOD" => "POST", "CONTENT_TYPE" => FORM,
           "rack.input" => StringIO.new(body.to_s)}.merge(env.transform_keys(&:to_s))
    Pelton::Web::Routes::FormVerb.of(Pelton::Web::Request.new(env)) { [place.compile] }
  end
end
