# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/spans"

class OpenTelemetryCommandsTest < PeltonTest
  include Spans

  def test_a_span_for_each_command
    with_memcached { |port| traced(<<~RUBY) }
      cache = Pelton::Memcached::Client.new("127.0.0.1:#{port}")
      cache.set("secret", "x")
      cache.get("secret")
      begin
        cache.incr("secret")
      rescue Pelton::Memcached::ServerError
      end
      check(spans.map(&:name), %w[set get incr])
      check(spans.map { |one| one.attributes["db.system.name"] }.uniq, ["memcached"])
      check(spans.map { |one| one.status.code }, [1, 1, 2])
      check(spans.any? { |one| one.attributes.values.include?("secret") }, false)
    RUBY
  end
end
