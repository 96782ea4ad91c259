# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/spans"

class OpenTelemetryQueriesTest < PeltonTest
  include Spans

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
