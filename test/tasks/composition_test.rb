# frozen_string_literal: true

require_relative "../test_helper"
require "pelton"

class CompositionTest < PeltonTest
  D = Pelton::Deferrable

  def setup
    @one, @two, @three = Array.new(3) { Pelton::Operation.new }
  end

  def test_all_gives_the_values_in_the_order_of_the_list
    all = D.all(@one, @two, @three)
    @three.succeed(3)
    @one.succeed(1, 11)
    @two.succeed

    assert_equal [[1, 11], nil, 3], all.await
  end

  def test_all_of_settled_operations
    assert_equal [1, 2], D.all([@one.succeed(1), @two.succeed(2)]).await
    assert_empty D.all.await
  end

  def test_all_fails_with_the_first_error
    all = D.all(@one, @two, @three)
    @three.fail(IOError.new("three"))
    @one.fail(IOError.new("one"))

    assert_equal "three", assert_raises(IOError) { all.await }.message
  end

  def test_all_of_a_users_classes
    own = Class.new { include D }.new
    all = D.all(own, @one.succeed(1))
    own.succeed(2)

    assert_equal [2, 1], all.await
  end

  def test_any_gives_the_first_value
    any = D.any(@one, @two, @three)
    @two.fail(IOError.new)
    @three.succeed(3)
    @one.succeed(1)

    assert_equal 3, any.await
  end

  def test_any_lists_the_errors_when_all_fail
    any = D.any(@one, @two)
    errors = [IOError.new("one"), Pelton::TimeoutError.new("two")]
    @two.fail(errors.last)
    @one.fail(errors.first)
    error = assert_raises(Pelton::AllFailedError) { any.await }

    assert_equal errors, error.errors
    assert_match(/all 2 operations failed: .*one.*two/, error.message)
    assert_predicate error, :retriable?
    refute_predicate assert_raises(Pelton::AllFailedError) { D.any.await }, :retriable?
  end

  def test_a_race_becomes_what_its_winner_becomes
    first = D.race(@one, @two)
    second = D.race(@two, @three)
    @one.succeed(1)
    @two.fail(IOError.new("two"))
    @three.succeed(3)

    assert_raises(IOError) { second.await } # before another await reports its error
    assert_equal 1, first.await
    assert_raises(ArgumentError) { D.race }
  end

  def test_the_others_are_cancelled_on_request
    ended = []
    Pelton.run do
      task = lambda do |name|
        Pelton.spawn do
          sleep
        ensure
          ended << name
        end
      end
      tasks = {all: task.call(:all), any: task.call(:any), race: task.call(:race)}
      Pelton.next_tick { @one.fail(IOError.new("no")) && @two.succeed(2) }

      assert_raises(IOError) { D.all(@one, tasks[:all], cancel: true).await }
      assert_equal 2, D.any(tasks[:any], @two, cancel: true).await
      assert_equal 2, D.race(@two, tasks[:race], cancel: true).await
      tasks.each_value { |one| assert_raises(Pelton::Cancelled) { one.await } }
    end

    assert_equal %i[all any race], ended
  end

  def test_the_others_go_on_otherwise
    Pelton.run do
      task = Pelton.spawn { sleep(0.001) && :done }

      assert_equal 1, D.race(@one.succeed(1), task).await
      assert_equal :done, task.await
    end
  end

  def test_errors_are_reported_once_and_only_when_unhandled
    reported = errors_reported do
      Pelton.run do
        D.all(@one, @two)
        @one.fail(IOError.new("one"))
        @two.fail(IOError.new("two"))
        D.race(@three.fail(IOError.new("three"))).errback {}
      end
    end

    assert_equal ["one"], reported
  end
end
