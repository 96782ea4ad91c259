# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/http"
require "pelton/test"

class HTTPAttachmentsTest < PeltonTest
  def setup
    @changes = 0
    @attachments = Pelton::HTTP::Attachments.new { @changes += 1 }
    @calls = []
  end

  # Notes its call.
  Closable = Struct.new(:name, :calls) do
    def close(*facts) = calls << [name, *facts]
  end

  def closable(name = "one") = Closable.new(name, @calls)

  def test_each_is_there_until_it_is_detached
    one, other = @attachments.attach(closable), @attachments.attach(closable)

    assert_equal 2, @attachments.size
    assert_nil one.detach
    assert_nil one.detach
    refute_empty @attachments
    other.detach

    assert_empty @attachments
  end

  # A server that stops must close what is attached meanwhile, and waits for the last one alone.
  def test_it_reports_what_is_attached_and_the_end_of_the_last
    one, other = @attachments.attach(closable), @attachments.attach(closable)

    assert_equal 2, @changes
    one.detach

    assert_equal 2, @changes
    2.times { other.detach }

    assert_equal 3, @changes
  end

  def test_each_is_closed_once
    Pelton.run do
      @attachments.attach(closable("one"))
      @attachments.close(1001, "stops")
      @attachments.attach(closable("two"))
      @attachments.close(1001, "stops")
      eventually { @calls.size == 2 }
    end

    assert_equal [["one", 1001, "stops"], ["two", 1001, "stops"]], @calls
  end

  # Another one may never be closed because of it.
  def test_one_that_fails
    failing = Object.new
    failing.define_singleton_method(:close) { |*| raise "failed" }
    errors = Pelton::Test.unrescued do
      Pelton.run do
        [failing, closable("two")].each { |one| @attachments.attach(one) }
        @attachments.close(1001, "stops")
        eventually { @calls.size == 1 }
      end
    end

    assert_equal ["failed"], errors.map { |error| error.is_a?(Array) ? error.first.message : error.message }
  end
end
