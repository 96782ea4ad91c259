# frozen_string_literal: true

require_relative "helper"

class EventMachineThreadedResourceTest < EventMachineTest
  def test_the_resource_is_made_and_used_in_one_thread
    made = nil
    used = []
    em do
      resource = EM::ThreadedResource.new { made = Thread.current }
      resource.dispatch { |thread| [thread, Thread.current] }.callback { |pair| used = pair }
      resource.dispatch { raise "broken" }.errback do |error|
        used << error.message << EM.reactor_thread?
        refute_predicate resource.shutdown, :alive?
        EM.stop
      end
    end

    assert_equal [made, made, "broken", true], used
    refute_same Thread.current, made
  end
end
