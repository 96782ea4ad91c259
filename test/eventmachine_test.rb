# frozen_string_literal: true

require_relative "test_helper"

# The two ways in, and that nothing of the real gem is loaded.
class EventMachineEntryTest < PeltonTest
  REQUIRED = %w[
    eventmachine rubyeventmachine fastfilereaderext em/version em/connection em/deferrable em/iterator em/streamer em/io_streamer
    em/protocols/linetext2 em/protocols/line_protocol em/buftok em/pure_ruby em/deferrable/pool
  ].freeze

  def test_whatever_is_required_afterwards_is_ours
    output = ruby_output(<<~RUBY, *REQUIRED)
      require "pelton/eventmachine"
      ARGV.each { |file| require file }
      puts $LOADED_FEATURES.grep(/eventmachine-\\d|rubyeventmachine.so/), EM.equal?(EventMachine)
    RUBY

    assert_equal "true\n", output
  end

  def test_requiring_eventmachine_by_its_folder_is_the_other_way
    output = ruby_output(<<~RUBY, File.join(ROOT, "eventmachine/lib"))
      $LOAD_PATH.unshift(ARGV[0])
      require "eventmachine"
      EM.run { EM.next_tick { puts "ran"; EM.stop } }
    RUBY

    assert_equal "ran\n", output
  end

  def test_it_refuses_to_stand_beside_the_real_one
    _, errors, status = run_ruby(<<~RUBY)
      module EventMachine; def self.run; end; end
      require "pelton/eventmachine"
    RUBY

    refute_predicate status, :success?
    assert_match(/loaded already/, errors)
  end

  def test_a_module_that_another_gem_has_opened_is_no_hindrance
    output = ruby_output(<<~RUBY)
      module EventMachine; module Foo; end; end
      EM = EventMachine
      require "pelton/eventmachine"
      puts EM.respond_to?(:run)
    RUBY

    assert_equal "true\n", output
  end
end
