# frozen_string_literal: true

require_relative "../support/telemetry_program"

class RailsDatadogTest < PeltonTest
  include TelemetryProgram

  APPLICATION = <<~RUBY
    require "datadog"
    TRACES = []
    Datadog.configure do |config|
      config.logger.instance = Logger.new(File::NULL)
      config.tracing.test_mode.enabled = true
      config.telemetry.enabled = false
      config.remote.enabled = false
      config.diagnostics.startup_logs.enabled = false
      %i[rack http pg trilogy redis active_record].each { |name| config.tracing.instrument(name) }
    end
    Datadog::Tracing.before_flush { |trace| (TRACES << trace) && trace }
    APP = Rack::Builder.app do
      use Datadog::Tracing::Contrib::Rack::TraceMiddleware
      run ->(env) { answer(env) { |id, work| Datadog::Tracing.trace("work", resource: "work \#{id}", &work) } }
    end
    connect_all
    TRACES.clear
    serve(APP)
  RUBY

  def test_spans_of_requests_never_mix
    assert_equal <<~TEXT, telemetry_output(APPLICATION + <<~RUBY)
      300 requests, 100 at once
      traces with spans of another request: 0
      300 active_record.instantiation in work
      300 http.request in work
      300 pg.exec in work
      300 rack.request in http.request
      300 rack.request in nothing
      300 redis.command in work
      300 trilogy.query in work
      300 work in rack.request
    TEXT
      def number(span)
        text = [span.resource, span.get_tag("http.url"), span.get_tag("redis.raw_command")].compact.join(" ")
        text[/work (\\d+)|SELECT (\\d+)|key(\\d+)|\\/(\\d+)/] && ($1 || $2 || $3 || $4).to_i
      end
      roots = TRACES.flat_map(&:spans).select { |span| span.name == "rack.request" && span.parent_id == 0 }
      puts "\#{roots.size} requests, 100 at once"
      traces = TRACES.flat_map { |trace| trace.spans }.group_by(&:trace_id).values
        .select { |spans| (spans & roots).any? }
      mixed = traces.count { |spans| spans.filter_map { |span| number(span) }.uniq.size != 1 }
      puts "traces with spans of another request: \#{mixed}"
      spans = traces.flatten.to_h { |span| [span.id, span] }
      once = %w[active_record.instantiation pg.exec trilogy.query redis.command http.request rack.request work]
      pairs = traces.flatten.select { |span| once.include?(span.name) }.map do |span|
        "\#{span.name} in \#{spans[span.parent_id]&.name || "nothing"}"
      end
      puts pairs.tally.sort.map { |pair, count| "\#{count} \#{pair}" }
    RUBY
  end
end
