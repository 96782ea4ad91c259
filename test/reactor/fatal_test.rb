# frozen_string_literal: true

require_relative "../test_helper"
require "pelton"

# Reactor#on_fatal: what would end run, and does not end a server's.
class FatalTest < PeltonTest
  class Foreign < Exception # rubocop:disable Lint/InheritException
  end

  # Runs until the block was told so many exceptions, which are returned with run's value.
  def told(count)
    told = []
    value = Pelton.run do
      Pelton::Reactor.current.on_fatal { |error| told << error }
      yield
      sleep 0.001 until told.size == count
      :value
    end
    [told.map(&:message), value]
  end

  def test_what_another_thread_raises_while_the_loop_waits
    main = Thread.current
    strike = ->(type, message) { Thread.pass until main.stop? && main.raise(type, message).nil? }
    result = told(20) do
      Thread.new { 10.times { |i| [Foreign, RuntimeError].each { |type| strike.call(type, i.to_s) } } }
    end

    assert_equal [(0..9).flat_map { |i| [i.to_s] * 2 }, :value], result
  end

  def test_what_tasks_and_callbacks_raise
    result = told(3) do
      Pelton.spawn { raise Foreign, "task" }
      Pelton.next_tick { raise Foreign, "callback" }
      Pelton.add_timer(0) { raise NotImplementedError, "timer" }
    end

    assert_equal %w[callback task timer], result.first.sort
    assert_equal :value, result.last
  end

  def test_what_ends_run_all_the_same
    raising = {SystemExit => -> { exit 3 }, Interrupt => -> { raise Interrupt },
               UncaughtThrowError => -> { throw :out }}
    raising.each { |type, callback| assert_raises(type) { told(1) { Pelton.next_tick(&callback) } } }
    assert_raises(Foreign) { told(1) { raise Foreign, "of the block itself" } }
  end

  def test_an_error_of_the_block_ends_run
    [Foreign, ArgumentError].each do |type|
      error = assert_raises(type) do
        Pelton.run do
          Pelton::Reactor.current.on_fatal { raise type, "second" }
          Pelton.spawn { raise Foreign, "first" }
          sleep
        end
      end

      assert_equal "second", error.message
    end
  end

  def test_it_is_for_one_run
    told(1) { Pelton.spawn { raise Foreign, "told" } }

    assert_raises(Foreign) { Pelton.run { Pelton.spawn { raise Foreign } && sleep } }
    assert_raises(Pelton::NotRunningError) { Pelton::Reactor.current.on_fatal { nil } }
  end
end
