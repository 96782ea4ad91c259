# frozen_string_literal: true

require_relative "../support/cable_application"

class WebConnectionTest < PeltonTest
  include CableApplication

  # As a module for controllers is written.
  module CurrentUser
    def self.included(controller) = controller.helper_method(:current_user)

    private

    def current_user
      headers["cache-control"] = "private"
      vary("cookie")
      session["user"] || cookies.encrypted[:user] || request.get_header("HTTP_X_USER")
    end
  end

  class Connection < Pelton::Web::Connection
    include CurrentUser

    identified_by :user

    def connect = self.user = current_user || reject_unauthorized_connection
  end

  class WhoChannel < Pelton::Web::Channel
    def subscribed = transmit(connection.user)

    def session = transmit(connection.session.to_h)
  end

  def test_who_the_client_is
    defining(:ApplicationConnection, Connection) do
      cable_application do |url, application|
        cookie = Pelton::HTTP.get(url.sub("ws:", "http:").sub("cable",
          "sign_in?user=ann")).headers["set-cookie"][/[^;]+/]

        assert_equal %w[ann bob],
          [{"cookie" => cookie}, {"x-user" => "bob"}].map { |headers| who(connect(url, headers: headers)) }
        assert_equal({"type" => "disconnect", "reason" => "unauthorized", "reconnect" => false},
          CableClient::Client.new(url).receive)
        assert_equal 1, application.cable.stats[:unauthorized]
      end
    end
  end

  def test_without_a_class_everybody_may_connect
    cable_application { |url| assert connect(url) }
  end

  def test_only_connect_has_the_request
    raised = nil
    Pelton.on_error { |error, _| raised = error }
    defining(:ApplicationConnection, Connection) do
      cable_application do |url|
        client = connect(url, headers: {"x-user" => "bob"})
        client.subscribe(WhoChannel.name)
        client.receive
        client.perform(WhoChannel.name, "session")
        client.perform(WhoChannel.name, "nothing")
        eventually("the error") { raised }

        assert_match(/only connect has the request/, raised.message)
      end
    end
  ensure
    Pelton.on_error
  end

  private

  # The message comes before the confirmation.
  def who(client)
    client.send(command: "subscribe", identifier: client.identifier(WhoChannel.name))
    client.receive["message"]
  end
end
