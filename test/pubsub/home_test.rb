# frozen_string_literal: true

require "tmpdir"
require_relative "../test_helper"
require "pelton/pubsub"
require "pelton/pubsub/hub"

# Processes that are no servers, and have the topics of one.
class PubSubHomeTest < PeltonTest
  # What a program prints whose hub is this process's. The block gets a PubSub that has joined, too.
  def joined_output(code)
    Dir.mktmpdir do |folder|
      hub = Pelton::PubSub::Hub.new("#{folder}/pubsub")
      Pelton.run do
        topics = Pelton::PubSub.new
        topics.join(hub.path)
        subscription = topics.subscribe("out")
        output = Pelton.offload do
          ruby_output("require 'pelton/pubsub'; #{code}", env: {"PELTON_PUBSUB_HUB" => hub.path})
        end
        yield output, subscription
      ensure
        topics.engine.close
      end
    ensure
      hub.close
    end
  end

  def test_a_program_without_a_reactor_publishes
    joined_output("p Pelton::PubSub.join, Pelton::PubSub.join; Pelton::PubSub.publish('out', " \
      "'hello')") do |output, subscription|
      assert_equal "true\ntrue\n", output
      assert_equal "hello", subscription.receive(timeout: 10)
    end
  end

  # As Solid Queue's supervisor forks its workers.
  def test_a_child_joins_anew
    code = "Pelton::PubSub.join; Process.wait(fork { Pelton::PubSub.join; Pelton::PubSub.publish('out', 'child') })"
    joined_output(code) { |_, subscription| assert_equal "child", subscription.receive(timeout: 10) }
  end

  def test_it_receives_in_the_reactor_of_its_own
    joined_output(<<~RUBY) { |output, _| assert_equal "own\n", output }
      Pelton::PubSub.join
      Pelton.run do
        subscription = Pelton::PubSub.subscribe("in")
        Pelton::PubSub.publish("in", "own")
        puts subscription.receive(timeout: 10)
      end
    RUBY
  end

  def test_without_a_place_it_is_alone
    assert_equal "false\nnil\n",
      ruby_output("require 'pelton/pubsub'; p Pelton::PubSub.join, Pelton::PubSub.publish('out', 'x')")
  end

  def test_a_place_that_is_none
    output = ruby_output(<<~RUBY)
      require "pelton/pubsub"
      Pelton.logger = nil
      p Pelton::PubSub.join("/no/such/hub")
    RUBY

    assert_equal "true\n", output # it is not there yet, and may come
  end

  def test_threads_that_come_together_have_one_home
    assert_equal "1\n", ruby_output(<<~RUBY)
      require "pelton/pubsub"
      p Array.new(20) { Thread.new { Pelton::PubSub.home } }.map(&:value).uniq.size
    RUBY
  end
end
