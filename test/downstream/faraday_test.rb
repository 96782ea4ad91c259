# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/webmock_program"

# The examples that Faraday has for adapters, which WebMock answers.
class FaradayExamplesTest < PeltonTest
  include WebMockProgram

  # Faraday's names of what an adapter can do. Pelton's has all but two: `parallel`, since requests run at once in
  # fibers without Faraday's `in_parallel`, and `local_socket_binding`, since the client connects from any address.
  FEATURES = %i[request_body_on_query_methods reason_phrase_parse compression streaming trace_method
    skip_response_body_on_head].freeze

  # Examples that fail, and the reasons.
  EXPECTED = {
    "#head behaves like a request method streaming when response contains big data handles streaming" =>
      "the stub has a body for a HEAD request, to which no server sends one: the client does not read it"
  }.freeze

  SPEC = <<~RUBY.freeze
    require "rspec/autorun"
    require "faraday"
    require "pelton/faraday"
    require File.join(Gem.loaded_specs["faraday"].full_gem_path, "spec/external_adapters/faraday_specs_setup")

    RSpec.configure do |config|
      config.around { |example| ENV["IN_REACTOR"] ? Pelton.run { example.run } : example.run }
    end

    RSpec.describe Pelton::FaradayAdapter do
      features(*#{FEATURES.inspect})
      it_behaves_like "an adapter"
    end
  RUBY

  def test_without_a_reactor = check({})

  def test_in_a_reactor = check({"IN_REACTOR" => "1"})

  private

  # RSpec ends with status 1 when an example fails.
  def check(env)
    needs_gems(GEMS)
    output, errors, = run_ruby("require \"bundler/setup\"\n#{SPEC}", env: GEMS.environment.merge(env), gems: true,
      deadline: 60)
    examples, failures = output[/^(\d+ examples), (\d+) failures?$/] && [$1.to_i, $2.to_i]
    failed = output.scan(/^rspec \S+ # (.*)$/).flatten

    assert_operator examples.to_i, :>, 300, output + errors
    assert_equal failures, failed.size
    assert_empty failed.reject { |name| EXPECTED.keys.any? { |expected| name.end_with?(expected) } }, output
    assert_empty EXPECTED.keys.reject { |expected| failed.any? { |name| name.end_with?(expected) } }, "they pass now"
  end
end
