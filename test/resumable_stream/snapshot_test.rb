# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/resumable_stream"

class ResumableStreamSnapshotTest < PeltonTest
  Snapshot = Pelton::ResumableStream::Snapshot

  def snapshot(**values) = Snapshot.new(run: 2, state: "running", text: "größer", alive_at: Time.now, **values)

  def test_a_text_that_is_written
    assert_equal "running", snapshot.state
    assert_equal 8, snapshot.size
    assert_equal "2:8", snapshot.position
    assert_predicate snapshot, :open?
    refute_predicate snapshot, :final?
  end

  def test_a_text_whose_writer_gives_no_sign_of_life
    [nil, Time.now - Pelton::ResumableStream::LEASE - 1].each do |time|
      assert_equal "interrupted", snapshot(alive_at: time).state
      assert_equal "running", snapshot(alive_at: time)._stored_state
    end
  end

  def test_a_text_that_nobody_has_begun
    fresh = Snapshot.new(run: nil, state: nil, text: nil)

    assert_equal "waiting", fresh.state
    assert_equal "0:0", fresh.position
    assert_predicate fresh, :open?
  end

  def test_the_end
    %w[finished cancelled].each { |state| assert_predicate snapshot(state: state), :final?, state }
    %w[failed interrupted].each { |state| refute_predicate snapshot(state: state), :final?, state }
  end

  def test_positions
    assert_equal [3, 17], Snapshot._parse("3:17")
    [nil, "", "3", "3:x", "-1:2", "1234567890:1"].each do |text|
      assert_equal [0, 0], Snapshot._parse(text), text.inspect
    end
  end
end
