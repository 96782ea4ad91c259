# frozen_string_literal: true

# OpenTelemetry's SDK, which keeps the spans in this process. The tests that use it run in processes of their own: what
# it does to servers and clients cannot be undone.
module Spans
  PROGRAM = <<~RUBY
    require "logger"
    require "opentelemetry/sdk"
    OpenTelemetry.logger = Logger.new(File::NULL)
    $exporter = OpenTelemetry::SDK::Trace::Export::InMemorySpanExporter.new
    OpenTelemetry::SDK.configure do |sdk|
      sdk.add_span_processor(OpenTelemetry::SDK::Trace::Export::SimpleSpanProcessor.new($exporter))
    end
    require "pelton/opentelemetry"
    def spans = $exporter.finished_spans
    def span(name) = spans.find { |span| span.name == name } || abort("no span \#{name} among \#{spans.map(&:name)}")
    def check(got, expected)
      got == expected || abort("\#{got.inspect} is not \#{expected.inspect}, at \#{caller.first}")
    end
    # Serves the application for the time of the block, which gets a client.
    def serving(app, **options)
      Pelton.run do
        server = Pelton::HTTP::Server.new(app, errors: StringIO.new)
        client = Pelton::HTTP::Client.new("http://127.0.0.1:\#{server.listen("tcp://127.0.0.1:0").port}", **options)
        yield client
        client.close
        server.stop
      end
    end
  RUBY

  # Runs a program with it, and fails unless it ends well.
  def traced(program)
    Gem::Specification.find_all_by_name("opentelemetry-sdk").any? || skip("the gem opentelemetry-sdk is not installed")
    assert_equal "done\n", ruby_output("#{PROGRAM}\n#{program}\nputs \"done\"", gems: true)
  end
end
