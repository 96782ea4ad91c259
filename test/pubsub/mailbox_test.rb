# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/pubsub"

class PubSubMailboxTest < PeltonTest
  Mailbox = Pelton::PubSub::Mailbox

  def setup
    @announced = 0
    @mailbox = Mailbox.new(1000, due: -> { @announced += 1 })
  end

  def test_messages_come_out_in_their_order
    @mailbox.put("one", "e:1")
    @mailbox.put("two", nil)

    assert_equal 2, @mailbox.size
    assert_equal ["one", "e:1"], @mailbox.take
    assert_equal ["two", nil], @mailbox.take
    assert_nil @mailbox.take
    assert_equal 0, @mailbox.bytes
  end

  def test_it_takes_no_more_than_its_bytes_and_a_message
    assert_nil @mailbox.put("x" * 2000, nil)
    assert_equal :slow, @mailbox.put("y", nil)
    assert_equal 1, @mailbox.size
  end

  # Nobody is told twice of what is still to be taken.
  def test_messages_are_announced_once_until_they_are_taken
    3.times { @mailbox.put("x", nil) }
    assert_equal 1, @announced
    @mailbox.take
    @mailbox.taken
    assert_equal 2, @announced, "two are left"
    2.times { @mailbox.take }
    @mailbox.taken
    assert_equal 2, @announced
    @mailbox.put("x", nil)
    assert_equal 3, @announced
  end

  def test_kept_messages_come_first_however_many_they_are
    @mailbox.fill([["a" * 900, "e:1"], ["b" * 900, "e:2"]])

    assert_equal 1, @announced
    assert_equal 2, @mailbox.size
    assert_equal :slow, @mailbox.put("c", "e:3")
  end

  def test_losses_are_told_in_their_place
    mailbox = Mailbox.new(100, tells_losses: true, due: -> {})
    mailbox.put("x" * 10, nil)
    assert_equal :slow, mailbox.put("lost", nil)
    assert_equal :slow, mailbox.put("lost as well", nil)
    assert_equal "x" * 10, mailbox.take.first
    assert_equal :slow, mailbox.put("lost, since the loss was not told yet", nil)
    assert_equal :lost, mailbox.take
    assert_nil mailbox.put("later", nil)
    assert_equal "later", mailbox.take.first
  end

  def test_a_loss_elsewhere
    mailbox = Mailbox.new(100, tells_losses: true, due: -> {})
    2.times { mailbox.lose }

    assert_equal :lost, mailbox.take
    assert_nil mailbox.take
    @mailbox.lose
    assert_nil @mailbox.take, "who is not told of losses has none"
  end

  def test_the_end
    @mailbox.put("x", nil)

    assert @mailbox.close
    refute @mailbox.close
    assert_equal :closed, @mailbox.put("y", nil)
    assert_equal ["x", nil], @mailbox.take
    refute_predicate @mailbox, :idle?
  end

  def test_nobody_can_take_messages_any_more
    mailbox = Mailbox.new(1000, due: -> { raise Pelton::ClosedError, "the reactor has ended" })

    assert_equal :closed, mailbox.put("x", nil)
    assert_predicate mailbox, :closed?
    assert_nil mailbox.take
  end

  def test_waiting
    mailbox = Mailbox.new(1000)
    Pelton.run do
      assert_raises(Pelton::TimeoutError) { mailbox.wait(0.001) }
      waits = Array.new(2) { Pelton.spawn { mailbox.wait(nil) } }
      Thread.new { mailbox.put("x", nil) }.join
      waits.each(&:await)
      mailbox.wait(nil) # there is one
      mailbox.take
      last = Pelton.spawn { mailbox.wait(nil) }
      Pelton.next_tick { mailbox.close }
      last.await
    end

    assert_predicate mailbox, :closed?
  end
end
