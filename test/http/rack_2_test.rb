# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/http"

# An application that stands on Rack 2 itself is in test/integration/rack_versions_test.rb.
class HTTPRack2Test < PeltonTest
  def answer_of(*response)
    Pelton::HTTP::Rack2.new(->(env) { @env = env and response }).call({"SERVER_PROTOCOL" => "HTTP/1.0"})
  end

  def test_line_breaks_are_between_the_values_of_a_header
    assert_equal [200, {"Set-Cookie" => %w[a=b c=d], "A" => "b"}, ["x"]],
      answer_of(200, {"Set-Cookie" => "a=b\nc=d", "A" => "b"}, ["x"])
    assert_equal [200, {"A" => %w[b]}, []], answer_of(200, {"A" => "b\n"}, [])
  end

  def test_other_responses_stay_as_they_are
    [[200, {"a" => "b", "c" => %w[d e], "f" => nil}, []], [-1, {}, []], [200, nil, []]].each do |response|
      assert_equal response, answer_of(*response)
    end
  end

  def test_the_version_of_the_request
    answer_of(200, {}, [])

    assert_equal "HTTP/1.0", @env["HTTP_VERSION"]
  end
end
