# frozen_string_literal: true

require "pelton/web"
require_relative "support/controllers"

class WebStreamTest < PeltonTest
  include WebControllers

  def body(**options, &block) = Pelton::Web::Stream.new({"PATH_INFO" => "/"}, **options, &block)

  def test_it_is_rack_s_body
    parts = []
    body { |out| (out << "a" << 1) && out.write("b", "", "c") }.each { |part| parts << part }

    assert_equal %w[a 1 b c], parts
  end

  def test_it_sends_inside_the_response_alone
    kept = nil
    stream = body { |out| kept = out }

    assert_raises(Pelton::Error) { stream.write("a") }
    stream.each { nil }

    assert_predicate kept, :closed?
    assert_raises(Pelton::ClosedError) { kept << "late" }
    assert_same kept, kept.send_data("late")
  end

  def test_it_needs_a_block
    assert_match(/needs a block/, assert_raises(ArgumentError) { body }.message)
  end

  def test_what_happens_at_its_end
    ends = []
    stream = body { |out| out.closed? { ends << :one } }
    stream.each { nil }
    stream.closed? { ends << :two }

    assert_equal %i[one two], ends
  end

  def test_an_error_leaves_it
    closed = false
    stream = body { |out| out.closed? { closed = true } || raise("broken") }

    assert_raises(RuntimeError) { stream.each { nil } }
    assert closed
    assert_equal 0, Pelton::Web::Stream.stats[:open]
  end

  def test_a_deferred_one_must_end_where_nobody_can_wait
    assert_raises(Pelton::Web::AnswerError) { body(deferred: true) { nil }.each { nil } }
    assert_raises(Pelton::ClosedError) { body(deferred: true) { |out| out.fail("no") }.each { nil } }
    assert_nil body(deferred: true, &:succeed).each { nil }
  end

  def test_a_client_that_leaves_ends_it
    ended = false
    before = Pelton::Web::Stream.stats[:cancelled]
    app = answering do
      stream do |out|
        out << "begun"
        sleep
      ensure
        ended = true
      end
    end
    with_server(app) do |url|
      Pelton::HTTP.get(url, stream: true).each { break }
      eventually { ended && Pelton::Web::Stream.stats[:open].zero? }
    end

    assert_equal before + 1, Pelton::Web::Stream.stats[:cancelled]
  end

  def test_the_end_of_the_lifetime_breaks_it_off
    app = answering { stream(lifetime: 0.05) { |out| (out << "begun") && sleep } }
    with_server(app) do |url|
      assert_raises(Pelton::ConnectionError) { Pelton::HTTP.get(url).body }
      eventually { Pelton::Web::Stream.stats[:open].zero? }
    end
  end

  def test_an_event_stream_ends_with_its_lifetime
    app = answering { event_stream(lifetime: 0.05) { |events| events.emit("begun") && sleep } }
    with_server(app) { |url| assert_equal "data: begun\n\n", Pelton::HTTP.get(url).body }
  end

  def test_an_own_timeout_is_an_error_of_the_block
    app = answering { stream { |out| (out << "begun") && Pelton.timeout(0.01) { sleep } } }
    _, log = capture_io do
      with_server(app) { |url| assert_raises(Pelton::ConnectionError) { Pelton::HTTP.get(url).body } }
    end

    assert_match(/longer than 0.01 s/, log)
  end

  def test_a_server_that_stops_ends_event_streams_in_good_order
    app = answering { event_stream { |events| events.emit("begun") && sleep } }
    with_server(app) do |url, server|
      response = Pelton::HTTP.get(url, stream: true)
      eventually { Pelton::Web::Stream.stats[:open] == 1 }

      assert server.stop(timeout: 5)
      assert_equal "data: begun\n\n", response.body
    end
  end

  def test_no_more_than_the_settings_allow
    app = answering(max_streams: 1) { stream { |out| (out << "begun") && sleep } }
    with_server(app) do |url|
      first = Pelton::HTTP.get(url, stream: true)
      eventually { Pelton::Web::Stream.stats[:open] == 1 }
      refused = Pelton::HTTP.get(url)

      assert_equal 503, refused.status
      assert_equal "5", refused["retry-after"]
      first.close
      eventually { Pelton::Web::Stream.stats[:open].zero? }
    end
  end

  def test_its_counters_are_on_the_control_socket
    assert_equal %w[web_streams web_streams_opened web_streams_cancelled],
      Pelton::Metrics.stats.keys.grep(/\Aweb_streams/)
  end
end
