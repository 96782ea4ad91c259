# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/resumable_texts"
require "pelton/http"

# The readers of a text.
class ResumableStreamFeedTest < PeltonTest
  include ResumableTexts

  # The first readers ask the writer for what is missing; later ones as well.
  def test_a_reader_that_comes_in_the_middle_gets_all
    Pelton.run do
      job = Pelton.spawn do
        stream.write(every: 600) { |out| 100.times { |number| (out << "#{number} ") && sleep(0.001) } }
      end
      readers = [reader]
      10.times { sleep(0.005) && (readers << reader) }
      job.await
      readers.each { |events| events.task.await }

      readers.each { |events| assert_equal (0..99).map { |number| "#{number} " }.join, events.text }
    end
  end

  # The store is slower than the pieces come, so some always come while it is written.
  def test_a_reader_catches_up_with_a_fast_writer_and_a_slow_store
    Pelton.run do
      @store.delay = 0.03
      stop = false
      job = Pelton.spawn { stream.write(every: 600) { |out| (out << "ab ") && sleep(0.001) until stop } }
      eventually { @store.read[:state] == "running" }
      sleep 0.02
      events = reader
      eventually("a piece that the store does not have") { events.text.bytesize > @store.read[:text].bytesize }
      stop = true
      job.await
      events.task.await

      assert_equal stream.snapshot.text, events.text
    end
  end

  def test_a_reader_goes_on_from_its_position
    Pelton.run do
      stream.write { |out| out << "Hello, world" }
      events = reader(after: "1:7")
      events.task.await

      assert_equal "world", events.text
      assert_equal %i[append finished], events.types
    end
  end

  def test_positions_that_are_none
    Pelton.run do
      stream.write { |out| out << "a\u00e9b" }
      {"x" => "a\u00e9b", "1:2" => "b", "1:999" => "", "-1:0" => "a\u00e9b", "1:-1" => "a\u00e9b",
       "\0" => "a\u00e9b"}.each do |position, text|
        events = reader(after: position)
        events.task.await

        assert_equal text, events.text, position.inspect
      end
    end
  end

  def test_another_run_makes_the_text_anew
    Pelton.run do
      events = reader
      assert_raises(ArgumentError) do
        stream.write do |out|
          out << "first"
          raise ArgumentError
        end
      end
      eventually { events.types.last == :failed }
      stream.write { |out| out << "second" }
      events.task.await

      assert_equal %i[running append failed begin append finished], events.types
      assert_equal "ArgumentError", events.find { |event| event.type == :failed }.error
      assert_equal "2:6", events.last.position
      assert_equal %i[begin append finished], reader(after: "1:5").tap { |late| late.task.await }.types
    end
  end

  def test_a_reader_learns_that_the_writer_has_died
    Pelton.run do
      @store.write({run: 1, state: "running", text: "half", alive_at: Time.now - 14.5}, run: 0, state: "waiting")
      events = reader
      await_text(events, "half")
      eventually { events.types.last == :interrupted }

      refute_predicate events.task, :done? # it may be written again
    ensure
      events.task.cancel
    end
  end

  # The topics of the two processes are not the same: the store has the text, a second later.
  def test_readers_without_the_writer_s_topics_read_the_store
    Pelton.run do
      events = reader(pubsub: Pelton::PubSub.new)
      gate = Pelton::Operation.new
      job = Pelton.spawn { stream.write(every: 0.01) { |out| (out << "half") && gate.await } }
      await_text(events, "half")
      gate.succeed(true)
      job.await
      events.task.await

      assert_equal "half", events.text
    end
  end

  def test_a_topic_that_nobody_follows_keeps_nothing
    Pelton.run do
      stream.write { |out| 1000.times { out << "piece" } }

      assert_equal 0, @pubsub.stats[:kept]
      assert_equal 0, @pubsub.stats[:subscriptions]
    end
  end

  # All readers of a process share one subscription, one copy, and one look into the store.
  def test_ten_thousand_readers
    Pelton.run do
      gate = Pelton::Operation.new
      job = Pelton.spawn { stream.write { |out| gate.await && (out << "all") } }
      readers = Array.new(10_000) { reader }
      eventually { readers.all? { |events| events.size == 1 } }

      assert_equal 2, @pubsub.stats[:subscriptions] # the feed's and the writer's
      assert_operator @store.reads, :<, 10
      gate.succeed(true)
      job.await
      readers.each { |events| events.task.await }

      assert_equal ["all"], readers.map(&:text).uniq
      eventually { @pubsub.stats[:subscriptions] == 0 }
    end
  end

  def test_a_slow_reader_gets_more_at_once
    Pelton.run do
      slow = reader(pause: 0.05)
      fast = reader
      stream.write { |out| 200.times { (out << "x") && sleep(0.001) } }
      [slow, fast].each { |events| events.task.await }

      assert_equal "x" * 200, slow.text
      assert_equal "x" * 200, fast.text
      assert_operator slow.size, :<, fast.size
    end
  end

  def test_silence_is_told
    Pelton.run do
      events = reader(every: 0.01)
      eventually { events.count(nil) >= 3 }

      assert_nil events.first
    ensure
      events.task.cancel
    end
  end

  def test_there_is_no_such_text
    Pelton.run do
      @store.define_singleton_method(:read) {}
      events = reader
      events.task.await

      assert_empty events
      refute stream.write { flunk "called" }
      refute stream.cancel
      assert_nil stream.snapshot
    end
  end

  def test_a_store_that_is_away_when_a_reader_comes
    Pelton.run do
      @store.away = true
      error = assert_raises(RuntimeError) { reader.task.await }

      assert_equal "the database is away", error.message
      assert_equal 0, @pubsub.stats[:subscriptions]
    end
  end

  # As a browser does, which comes back with the last id.
  def test_it_is_followed_by_server_sent_events
    Pelton.run do
      events = lambda do |env|
        Pelton::HTTP::EventStream.new { |out| out.follow(stream, after: env["HTTP_LAST_EVENT_ID"], every: 0.05) }
          .then { |body| [200, body.headers, body] }
      end
      url = "http://127.0.0.1:#{Pelton::HTTP::Server.new(events).listen("tcp://127.0.0.1:0").port}/"
      gate = Pelton::Operation.new
      job = Pelton.spawn { stream.write { |out| (out << "one\n") && gate.await && (out << "two") } }
      eventually { stream.snapshot.state == "running" }
      first = +""
      Pelton::HTTP.get(url, stream: true).each do |piece|
        (first << piece).include?("1:4") && first.include?("running") && break
      end
      gate.succeed(true)
      job.await
      rest = Pelton::HTTP.get(url, headers: {"last-event-id" => "1:4"}).body

      assert_includes first, "id: 1:4\ndata: one\ndata: \n\n"
      assert_includes first, "event: running\n"
      assert_equal "id: 1:7\ndata: two\n\nevent: finished\nid: 1:7\ndata: \n\n", rest
    ensure
      Pelton.stop
    end
  end

  def test_it_needs_a_reactor_to_follow
    assert_raises(Pelton::NotRunningError) { stream.follow {} }
  end
end
