# frozen_string_literal: true

require_relative "../../support/rails_program"

# An Action Cable that pelton-rails does not know keeps its own server.
class CableVersionsTest < PeltonTest
  include RailsProgram

  self.deadline = 120

  # Classes that Action Cable 8.2 has under other names.
  MOVED = <<~RUBY
    %i[StreamEventLoop WebSocket ClientSocket].each { |name| ActionCable::Connection.send(:remove_const, name) }
  RUBY

  def test_a_newer_action_cable_is_said_at_boot_and_keeps_its_server
    code = <<~RUBY
      TestApplication.initialize!
      puts ActionCable::Server::Base.ancestors.any? { |one| one.name&.start_with?("Pelton") }
    RUBY
    said = %w[8.1.9 8.2.0].map { |version| rails_output(code, setup: application(version)).lines }

    assert_equal ["true\n"], said.first
    assert_match(/Action Cable 8\.2\.0 is newer .* Rails' own server/, said.last.first)
    assert_equal ["false\n"], said.last.drop(1)
  end

  def test_an_application_boots_without_classes_that_a_newer_action_cable_lacks
    code = "TestApplication.initialize!; puts ActionCable.server.class"
    said = rails_output(code, setup: application("8.2.0.alpha") + MOVED).lines

    assert_equal "ActionCable::Server::Base\n", said.last
    assert_equal 1, said.grep(/Action Cable 8\.2\.0\.alpha is newer/).size
    assert_equal 2, said.size
  end

  def test_follow_stream_says_that_action_cable_is_too_new
    code = <<~RUBY
      TestApplication.initialize!
      channel = Class.new(ActionCable::Channel::Base) { attr_reader :connection }.allocate
      begin
        channel.follow_stream(nil, :content)
      rescue Pelton::Error => error
        puts error.message
      end
    RUBY

    said = rails_output(code, setup: application("8.2.0")).lines.last

    assert_match(/needs Pelton's server, with config\.pelton\.cable = true, and Action Cable [<>=., \d]*< 8\.2/, said)
  end

  # Rails' own server subscribes in its threads, where no reactor runs.
  def test_the_adapter_pelton_delivers_to_threads_without_a_reactor_until_they_unsubscribe
    code = <<~RUBY
      TestApplication.initialize!
      ActionCable.server.config.cable = {adapter: "pelton", channel_prefix: "app"}.with_indifferent_access
      adapter, got, confirmed = ActionCable.server.pubsub, Queue.new, Queue.new
      callbacks = Array.new(2) { |index| ->(message) { got << [index, message] } }
      callbacks.each { |callback| Thread.new { adapter.subscribe("news", callback, -> { confirmed << true }) }.join }
      2.times { confirmed.pop }
      adapter.broadcast("news", "first")
      p Array.new(2) { got.pop }.sort
      adapter.unsubscribe("news", callbacks.first)
      adapter.broadcast("news", "second")
      p got.pop
      ActionCable.server.restart
      p Pelton::PubSub.stats[:subscriptions]
    RUBY
    said = rails_output(code, setup: application("8.2.0")).lines.drop(1)

    assert_equal [%([[0, "first"], [1, "first"]]\n), %([1, "second"]\n), "0\n"], said
  end

  def test_a_subscription_that_waits_when_the_adapter_shuts_down_is_refused
    code = <<~RUBY
      TestApplication.initialize!
      require "action_cable/subscription_adapter/pelton"
      ActionCable::SubscriptionAdapter::Pelton.class_eval { public_constant :Listener }
      listener = ActionCable::SubscriptionAdapter::Pelton::Listener.new
      begun = Queue.new
      waiting = Thread.new do
        listener.call { begun.push(true) && sleep }
      rescue => error
        error.class
      end
      begun.pop
      listener.stop
      p waiting.value
      begin
        listener.call { 1 }
      rescue => error
        p error.class
      end
    RUBY
    said = rails_output(code, setup: application("8.2.0")).lines.last(2)

    assert_equal "Pelton::ClosedError\n", said.first, "under way"
    assert_equal "Pelton::ClosedError\n", said.last, "later"
  end

  private

  def application(version)
    APPLICATION + <<~RUBY
      require "action_cable/engine"
      Pelton.logger = Logger.new($stdout, formatter: ->(*, message) { message + "\\n" })
      ActionCable.singleton_class.define_method(:gem_version) { Gem::Version.new("#{version}") }
    RUBY
  end
end
