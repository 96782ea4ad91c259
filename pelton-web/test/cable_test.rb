# frozen_string_literal: true

require_relative "support/cable_application"
require "tmpdir"

class WebCableTest < PeltonTest
  include CableApplication

  def test_an_application_has_one_cable
    application = Class.new(Pelton::Web::Application)
    application.settings.cable = {subscriptions: 5}

    assert_same application.cable, application.cable
    assert_equal 5, application.cable.limits[:subscriptions]
    assert_raises(Pelton::Web::ConfigurationError) { application.settings.cable = 5 }
  end

  def test_a_request_that_is_for_no_socket
    cable_application { |url| assert_equal 426, Pelton::HTTP.get(url.sub("ws:", "http:")).status }
  end

  def test_a_reload_in_development
    Dir.mktmpdir do |root|
      Dir.mkdir("#{root}/app") && Dir.mkdir("#{root}/app/channels")
      write(root, "one")
      cable_application(root: root, environment: "development") do |url|
        client = connect(url)

        assert_equal "one", answer(client)
        write(root, "two", time: Time.now + 10)
        Pelton::HTTP.get(url.sub("ws:", "http:").sub("cable", "sign_in?user=ann"))

        assert_equal({"type" => "disconnect", "reason" => "remote", "reconnect" => true}, client.receive)
        assert_equal "two", answer(connect(url))
      end
    end
  end

  private

  def write(root, answer, time: Time.now)
    file = "#{root}/app/channels/reloaded_by_test_channel.rb"
    File.write(file,
      "class ReloadedByTestChannel < Pelton::Web::Channel\n  def subscribed = transmit(#{answer.inspect})\nend\n")
    File.utime(time, time, file)
  end

  def answer(client)
    client.send(command: "subscribe", identifier: client.identifier("ReloadedByTestChannel"))
    client.receive["message"].tap { client.receive }
  end
end
