# frozen_string_literal: true

require "test_helper"

# Under a server: test/integration/sinatra_test.rb.
class EventMachineLaunchingTest < PeltonTest
  def test_the_loop_runs_as_long_as_a_launcher
    assert_equal "[:reported, \"broken\"]\n[true, false]\n", ruby_output(<<~RUBY, options: %w[-rpelton/eventmachine])
      Pelton.on_error { |error| p [:reported, $broken = error.message] }
      Pelton.run do
        ends = Pelton::Integrations.launch
        sleep 0.001 until running = EventMachine.reactor_running?
        EventMachine.next_tick { raise "broken" }
        sleep 0.001 until $broken
        ends.each(&:call)
        sleep 0.001 while EventMachine.reactor_running?
        $states = [running, EventMachine.reactor_running?]
      end
      p $states
    RUBY
  end
end
