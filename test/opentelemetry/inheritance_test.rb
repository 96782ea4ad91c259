# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/spans"

class OpenTelemetryInheritanceTest < PeltonTest
  include Spans

  def test_tasks_have_the_span_of_the_code_that_has_spawned_them
    traced(<<~RUBY)
      tracer = OpenTelemetry.tracer_provider.tracer("test")
      Pelton.run do
        tracer.in_span("a") do
          Pelton.spawn { tracer.in_span("b") { Pelton.spawn(name: "n") { tracer.in_span("c") {} }.await } }.await
          Pelton.group { |group| group.spawn { tracer.in_span("d") {} } }
          Pelton.map([1]) { tracer.in_span("e") {} }
        end
        Pelton.spawn { tracer.in_span("f") {} }.await
      end
      names = spans.to_h { |one| [one.span_id, one.name] }
      check(spans.to_h { |one| [one.name, names[one.parent_span_id]] },
        {"a" => nil, "b" => "a", "c" => "b", "d" => "a", "e" => "a", "f" => nil})
    RUBY
  end

  # A task that never detaches, and one that was cancelled within a span, leave nothing to the next one on their fiber.
  def test_a_fiber_that_is_used_again_has_no_span
    traced(<<~RUBY)
      tracer = OpenTelemetry.tracer_provider.tracer("test")
      left = []
      Pelton.run do
        20.times do
          Pelton.spawn do
            OpenTelemetry::Context.attach(OpenTelemetry::Trace.context_with_span(tracer.start_span("lost"))) && sleep(0)
          end.await
          Pelton.spawn { tracer.in_span("cancelled") { sleep } }.tap { sleep 0 }.cancel
          sleep 0
          Pelton.spawn { left << OpenTelemetry::Trace.current_span.context.valid? }.await
          Pelton.next_tick { left << OpenTelemetry::Trace.current_span.context.valid? }
        end
      end
      check(left, [false] * 40)
    RUBY
  end

  def test_a_task_says_where_it_is_from
    traced(<<~RUBY)
      Pelton.run do
        task = Pelton.spawn { sleep 0 }
        check(task.origin[/\\d+\\z/].to_i, __LINE__ - 1)
      end
      begin
        Pelton.spawn
      rescue ArgumentError => error
        check(error.message, "spawn needs a block")
      end
    RUBY
  end
end
