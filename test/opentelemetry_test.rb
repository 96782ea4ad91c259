# frozen_string_literal: true

require_relative "test_helper"
require_relative "support/spans"

class OpenTelemetryTest < PeltonTest
  include Spans

  def test_without_the_gem_the_message_names_it
    _, errors, status = run_ruby("require 'pelton/opentelemetry'")

    refute_predicate status, :success?
    assert_match(/add gem "opentelemetry-api" to the Gemfile/, errors)
  end

  def test_nothing_of_pelton_loads_it
    traced("") # installed
    assert_equal "nil\n",
      ruby_output("require 'pelton/http'; require 'pelton/memcached'; p defined?(::OpenTelemetry)", gems: true)
  end

  # The spans of many requests that wait, call each other, spawn tasks and fail, all at once: each has its own parent
  # and trace.
  def test_no_span_gets_into_another_request
    with_memcached { |port| traced(<<~RUBY) }
      require "pelton/memcached"
      cache = Pelton::Memcached::Client.new("127.0.0.1:#{port}")
      tracer = OpenTelemetry.tracer_provider.tracer("test")
      client = nil
      app = lambda do |env|
        id = env["PATH_INFO"].delete("/")
        next [200, {}, ["inner"]] if env["QUERY_STRING"] == "inner"
        tracer.in_span("outer", attributes: {"id" => id}) do
          cache.set("key", id)
          tasks = Array.new(2) do
            Pelton.spawn { sleep(rand / 100) && tracer.in_span("task", attributes: {"id" => id}) { sleep(rand / 100) } }
          end
          OpenTelemetry::Context.attach(OpenTelemetry::Context.current) if id.to_i % 5 == 0 # and never detached
          client.get("/\#{id}?inner")
          sleep(rand / 100)
          tracer.in_span("inner", attributes: {"id" => id}) { sleep(rand / 100) }
          raise "failed" if id.to_i % 7 == 0
          tasks.each(&:await)
        end
        [200, {}, ["x"]]
      end
      serving(app, concurrency: 100) do |own|
        client = own
        3.times { Pelton.group { |group| (1..60).each { |id| group.spawn { own.get("/\#{id}") } } } }
        sleep 0.05
      end

      by_id = spans.to_h { |one| [one.span_id, one] }
      requests = spans.select { |one| one.kind == :server && one.attributes["url.path"] && one.name == "GET" }
      roots = spans.select { |one| one.kind == :client && one.name == "GET" && !by_id[one.parent_span_id] }
      check(roots.size, 180)
      check(roots.map(&:trace_id).uniq.size, 180)
      id_of = roots.to_h { |one| [one.trace_id, one.attributes["url.full"][/\\d+\\z/]] }
      # client, server, outer, set, tasks, client, server, inner
      check(spans.size, 180 * (1 + 1 + 1 + 1 + 2 + 1 + 1 + 1))
      spans.each do |one|
        check(id_of[one.trace_id], one.attributes["id"]) if one.attributes["id"]
        check(id_of[one.trace_id], one.attributes["url.path"].delete("/")) if one.attributes["url.path"]
        check(by_id.key?(one.parent_span_id), true) unless roots.include?(one)
      end
      check(spans.select { |one| one.name == "task" }.map { |one| by_id[one.parent_span_id].name }.uniq, ["outer"])
      check(spans.select { |one| one.name == "set" }.map { |one| by_id[one.parent_span_id].name }.uniq, ["outer"])
    RUBY
  end
end
