# frozen_string_literal: true

require_relative "../support/telemetry_program"

# OpenTelemetry's own instrumentation of Rack, databases and so on, without that of pelton/opentelemetry.
class RailsOpenTelemetryTest < PeltonTest
  include TelemetryProgram

  TRACING = <<~RUBY
    require "opentelemetry/sdk"
    %w[active_record net/http pg rack redis trilogy].each { |name| require "opentelemetry/instrumentation/\#{name}" }
    ERRORS = []
    OpenTelemetry.logger = Logger.new(File::NULL)
    OpenTelemetry.error_handler = ->(exception: nil, message: nil) { ERRORS << (message || exception.message) }
    EXPORTER = OpenTelemetry::SDK::Trace::Export::InMemorySpanExporter.new
    OpenTelemetry::SDK.configure do |sdk|
      sdk.add_span_processor(OpenTelemetry::SDK::Trace::Export::SimpleSpanProcessor.new(EXPORTER))
      sdk.use "OpenTelemetry::Instrumentation::Rack"
      sdk.use "OpenTelemetry::Instrumentation::PG", db_statement: :include
      sdk.use "OpenTelemetry::Instrumentation::Trilogy", db_statement: :include
      sdk.use "OpenTelemetry::Instrumentation::Redis", db_statement: :include
      sdk.use "OpenTelemetry::Instrumentation::Net::HTTP"
      sdk.use "OpenTelemetry::Instrumentation::ActiveRecord"
    end
    TRACER = OpenTelemetry.tracer_provider.tracer("test")
    APP = Rack::Builder.app do
      use(*OpenTelemetry::Instrumentation::Rack::Instrumentation.instance.middleware_args)
      run ->(env) { answer(env) { |id, work| TRACER.in_span("work", attributes: {"id" => id}, &work) } }
    end
    connect_all
    EXPORTER.reset
    serve(APP)
    SPANS = EXPORTER.finished_spans
    BY_ID = SPANS.to_h { |span| [span.span_id, span] }
    def library(span) = span && span.instrumentation_scope.name.delete_prefix("OpenTelemetry::Instrumentation::")
    # The number of the request, where the span names it.
    def number(span)
      text = span.attributes.values_at("url.path", "http.target", "db.statement", "db.query.text", "id")
        .compact.first.to_s
      text[/SELECT (\\d+)|key(\\d+)|\\A\\/?(\\d+)/] && ($1 || $2 || $3).to_i
    end
  RUBY

  def test_spans_of_requests_never_mix
    assert_equal <<~TEXT, telemetry_output(TRACING + <<~RUBY)
      300 requests, 100 at once
      traces with spans of another request: 0
      spans: {"ActiveRecord"=>300, "Net::HTTP"=>600, "PG"=>600, "Rack"=>600, "Redis"=>300, "Trilogy"=>300, "test"=>300}
      PG in ActiveRecord, PG in test, ActiveRecord in test, Net::HTTP in test, Rack in Net::HTTP, Redis in test, Trilogy in test, test in Rack
      errors: []
    TEXT
      roots = SPANS.select { |span| span.kind == :server && BY_ID[span.parent_span_id].nil? }
      check(roots.map { |span| span.parent_span_id.unpack1("H*") }.uniq, ["0" * 16])
      check(roots.map { |span| number(span) }.tally, (1..100).to_h { |number| [number, 3] })
      puts "\#{roots.size} requests, 100 at once"
      traces = SPANS.group_by(&:trace_id).values.select { |spans| spans.any? { |span| roots.include?(span) } }
      mixed = traces.count { |spans| spans.filter_map { |span| number(span) }.uniq.size != 1 }
      puts "traces with spans of another request: \#{mixed}"
      own = traces.flatten.select { |span| number(span) || %w[ActiveRecord Net::HTTP].include?(library(span)) }
      puts "spans: \#{own.map { |span| library(span) }.tally.sort.to_h}"
      inner = own - roots
      check(inner.reject { |span| BY_ID[span.parent_span_id]&.trace_id == span.trace_id }, [])
      puts inner.map { |span| "\#{library(span)} in \#{library(BY_ID[span.parent_span_id])}" }.uniq
        .sort_by { |pair| [pair.start_with?("PG") ? 0 : 1, pair] }.join(", ")
      puts "errors: \#{ERRORS.uniq}"
    RUBY
  end
end
