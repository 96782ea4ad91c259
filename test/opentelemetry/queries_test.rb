# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/spans"

class OpenTelemetryQueriesTest < PeltonTest
  include Spans

  def test_what_the_server_says_is_without_values
    traced(<<~'RUBY')
      database = Struct.new(:database_type).new(:mysql)
      record = Struct.new(:database, :listener) { def on_query(&block) = self.listener = block }.new(database)
      Pelton::OpenTelemetry.trace(record)
      begin
        raise IOError, "Duplicate entry 's3cret' for key 'token'\nDETAIL: (token)=(s3cret)"
      rescue => error
        record.listener.call("SELECT \"it\\\"s s3cret\" -- it's", 0.1, error)
      end
      span, = spans
      check(span.attributes.values_at("db.system.name", "db.query.text", "error.type"), ["mysql", "SELECT ?", "IOError"])
      event = span.events.first.attributes
      check(event["exception.message"], "Duplicate entry ?")
      check(event["exception.stacktrace"].lines.first[/Duplicate.*/], "Duplicate entry ? (IOError)")
      check(event.inspect.include?("s3cret"), false)
      unknown = Pelton::OpenTelemetry::Queries.system_of(Object.new)
      check(unknown, "other_sql")
    RUBY
  end

  # Pelton::Record calls its listeners in this way; the gem's own tests check that.
  def test_a_span_for_each_query
    traced(<<~RUBY)
      database = Object.new
      def database.on_query(&block) = (@listener = block) && self
      def database.query(...) = @listener.call(...)
      Pelton::OpenTelemetry.trace(database, system: "postgresql")
      OpenTelemetry.tracer_provider.tracer("test").in_span("outer") { database.query("SELECT * FROM users WHERE name = 'O''Neil' AND id = 17", 0.5, nil) }
      database.query("insert into t1 values (1.5, '\\xff')", 0.1, RuntimeError.new("locked"))
      database.query("", 0.1, nil)
      check(spans.map(&:name), %w[SELECT outer INSERT QUERY])
      select, outer, insert = spans
      check(select.attributes, {"db.system.name" => "postgresql", "db.operation.name" => "SELECT", "db.query.text" => "SELECT * FROM users WHERE name = ? AND id = ?"})
      check(select.parent_span_id, outer.span_id)
      check((select.end_timestamp - select.start_timestamp) / 1_000_000, 500)
      check([insert.attributes["db.query.text"], insert.status.code, insert.attributes["error.type"]], ["insert into t1 values (?, ?)", 2, "RuntimeError"])
    RUBY
  end
end
