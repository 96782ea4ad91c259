# frozen_string_literal: true

require_relative "test_helper"
require_relative "support/resumable_texts"

# A text's writer and the store, in one process. Readers are in resumable_stream/feed_test.rb, several processes in
# integration/resumable_stream_test.rb.
class ResumableStreamTest < PeltonTest
  include ResumableTexts

  def test_a_text_arrives_piece_by_piece
    Pelton.run do
      events = reader
      gate = Pelton::Operation.new
      job = Pelton.spawn do
        stream.write do |out|
          out << "Hel"
          gate.await
          out << "lo"
        end
      end
      await_text(events, "Hel")
      gate.succeed(true)

      assert job.await, "the block has ended"
      events.task.await

      assert_equal "Hello", events.text
      assert_equal %i[running append finished], events.types
      assert_equal "1:5", events.last.position
      assert_equal "Hello", stream.snapshot.text
      assert_equal "finished", stream.snapshot.state
    end
  end

  # Without a follower, nothing is kept.
  def test_a_text_that_nobody_follows
    Pelton.run do
      stream.write { |out| 1000.times { out << "piece" } }

      assert_equal 5000, stream.snapshot.size
      assert_equal [0, 0, 0], @pubsub.stats.values_at(:kept, :topics, :subscriptions)
    end
  end

  def test_what_is_finished_is_not_written_again
    Pelton.run do
      stream.write { |out| out << "once" }

      refute stream.write { flunk "called" }
      refute stream.cancel
      assert_equal "once", stream.snapshot.text
    end
  end

  def test_one_writer_at_a_time
    Pelton.run do
      gate = Pelton::Operation.new
      job = Pelton.spawn { stream.write { gate.await } }
      eventually { stream.snapshot.state == "running" }
      error = assert_raises(Pelton::ResumableStream::Busy) { stream.write { flunk "called" } }

      assert_predicate error, :retriable?
      gate.succeed(true)
      job.await
    end
  end

  # As after a restart of the worker with a job that was killed.
  def test_another_takes_over_from_a_writer_that_has_died
    Pelton.run do
      job = Pelton.spawn { stream.write { |out| (out << "lost") && sleep } }
      eventually { stream.snapshot.state == "running" }
      events = reader
      await_text(events, "lost")
      @store.age(60)

      assert_equal "interrupted", stream.snapshot.state
      assert stream.write { |out| out << "new" }, "the second writer"
      events.task.await

      assert_equal "new", stream.snapshot.text
      assert_includes events.types, :begin
      assert_equal "new", events.last(2).first.text
      refute job.await, "the first writer's end"
    end
  end

  def test_a_writer_that_is_cancelled_is_interrupted
    Pelton.run do
      events = reader
      job = Pelton.spawn { stream.write { |out| (out << "half") && sleep } }
      await_text(events, "half")
      job.cancel
      eventually { events.types.last == :interrupted }

      assert_equal "interrupted", @store.read[:state]
      assert_equal "half", stream.snapshot.text
    ensure
      events.task.cancel
    end
  end

  def test_a_reader_may_cancel_it_where_it_waits
    Pelton.run do
      events = reader
      ended = nil
      job = Pelton.spawn do
        stream.write do |out|
          out << "half"
          sleep
        ensure
          ended = true
        end
      end
      await_text(events, "half")

      assert stream.cancel, "it was not cancelled"
      refute job.await, "the block's end"
      assert ended, "the block was left"
      events.task.await

      assert_equal %i[running append cancelled], events.types
      assert_equal "half", stream.snapshot.text
    end
  end

  def test_a_text_that_is_cancelled_before_its_job_begins
    Pelton.run do
      events = reader
      eventually { @store.reads }

      assert stream.cancel, "it was not cancelled"
      events.task.await

      assert_equal %i[cancelled], events.types
      refute stream.write { flunk "called" }
    end
  end

  # It rescues everything. Then each further piece raises.
  def test_a_job_that_ignores_a_cancellation_cannot_append
    Pelton.run do
      raised = 0
      job = Pelton.spawn do
        stream.write do |out|
          begin
            out << "half"
            sleep
          rescue Exception # standard:disable Lint/RescueException
            raised += 1
          end
          begin
            out << "more"
          rescue Pelton::ResumableStream::Stopped
            raised += 1
          end
        end
      end
      eventually { stream.snapshot.state == "running" }
      eventually { stream.cancel }

      refute job.await
      assert_equal 2, raised
      assert_equal "half", stream.snapshot.text
    end
  end

  # Where no reactor runs, as in a worker with threads.
  def test_a_writer_in_a_thread
    gate = Thread::Queue.new
    appended = Thread::Queue.new
    thread = Thread.new do
      stream.write do |out|
        appended << (out << "one ")
        gate.pop
        loop { (out << "more ") && sleep(0.001) }
      end
    end
    appended.pop
    Pelton.run do
      events = reader
      await_text(events, "one ")
      gate << true
      eventually { events.text.include?("more") }
      stream.cancel

      refute thread.value, "it has ended by itself"
      events.task.await

      assert_equal :cancelled, events.types.last
      assert_equal stream.snapshot.text, events.text
    end
  end

  def test_pieces_may_be_cut_within_a_character
    Pelton.run do
      events = reader
      stream.write { |out| "caf\u00e9 \u{1F600}".b.each_char { |byte| out << byte } }
      events.task.await

      assert_equal "caf\u00e9 \u{1F600}", events.text
    end
  end

  def test_pieces_that_are_no_text
    Pelton.run do
      stream.write { |out| out << "a\xFFb\0c" << nil << "" << "d\xE2" }

      assert_equal "a\uFFFDb\uFFFDcd\uFFFD", stream.snapshot.text
    end
  end

  def test_a_text_is_bounded
    Pelton.run do
      error = assert_raises(Pelton::LimitError) { stream.write(max_bytes: 10) { |out| loop { out << "123456" } } }

      assert_match(/more than 10 bytes/, error.message)
      assert_equal "failed", stream.snapshot.state
      assert_equal "123456", stream.snapshot.text
    end
  end

  def test_a_store_that_is_away_for_a_moment
    errors = errors_reported do
      Pelton.run do
        events = reader
        gate = Pelton::Operation.new
        job = Pelton.spawn { stream.write(every: 0.01) { |out| (out << "half") && gate.await && (out << " whole") } }
        await_text(events, "half")
        @store.away = true
        eventually { @store.writes > 5 }
        @store.away = false
        gate.succeed(true)
        job.await
        events.task.await

        assert_equal "half whole", events.text
        assert_equal "half whole", stream.snapshot.text
      end
    end

    assert_includes errors, "the database is away"
  end

  def test_a_row_that_goes_ends_its_writer
    Pelton.run do
      job = Pelton.spawn { stream.write(every: 0.01) { |out| loop { (out << "more") && sleep(0.01) } } }
      eventually { stream.snapshot.text.size > 4 }
      @store.gone = true

      refute job.await
    end
  end

  def test_following_needs_a_reactor
    error = assert_raises(Pelton::NotRunningError) { stream.follow {} }

    assert_match(/ResumableStream#follow/, error.message)
  end

  def test_its_words
    assert_equal "#<Pelton::ResumableStream \"one\">", stream.inspect
    assert_raises(ArgumentError) { stream.write }
  end
end
