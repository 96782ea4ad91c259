# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/spans"

class OpenTelemetryQueriesTest < PeltonTest
  include Spans

  PREAMBLE = <<~RUBY
    Database = Struct.new(:database_type)
    def query(type, sql, error = nil)
      Pelton::Notifications.instrument("query.sequel", {database: Database.new(type), sql: sql}) do
        error ? raise(error) : sleep(0.001)
      end
    rescue
      nil
    end
  RUBY

  def test_what_the_server_says_is_without_values
    traced(PREAMBLE + <<~'RUBY')
      query(:mysql, "SELECT \"it\\\"s s3cret\" -- it's",
        IOError.new("Duplicate entry 's3cret' for key 'token'\nDETAIL: (token)=(s3cret)"))
      query(:other, "SELECT 1")
      span, other = spans
      check(span.attributes.values_at("db.system.name", "db.query.text", "error.type"),
        ["mysql", "SELECT ?", "IOError"])
      event = span.events.first.attributes
      check(event["exception.message"], "Duplicate entry ?")
      check(event["exception.stacktrace"].lines.first[/Duplicate.*/], "Duplicate entry ? (IOError)")
      check(event.inspect.include?("s3cret"), false)
      check(other.attributes["db.system.name"], "other_sql")
    RUBY
  end

  # pelton-sequel makes these events; the gem's own tests check that.
  def test_a_span_for_each_query
    traced(PREAMBLE + <<~'RUBY')
      OpenTelemetry.tracer_provider.tracer("test").in_span("outer") do
        query(:postgres, "SELECT * FROM users WHERE name = 'O''Neil' AND id = 17")
      end
      query(:postgres, "insert into t1 values (1.5, '\xff')", RuntimeError.new("locked"))
      query(:postgres, "")
      check(spans.map(&:name), %w[SELECT outer INSERT QUERY])
      select, outer, insert = spans
      check(select.attributes, {
        "db.system.name" => "postgresql",
        "db.operation.name" => "SELECT",
        "db.query.text" => "SELECT * FROM users WHERE name = ? AND id = ?"
      })
      check(select.parent_span_id, outer.span_id)
      check(select.end_timestamp - select.start_timestamp >= 1_000_000, true)
      check([insert.attributes["db.query.text"], insert.status.code, insert.attributes["error.type"]],
        ["insert into t1 values (?, ?)", 2, "RuntimeError"])
    RUBY
  end
end
