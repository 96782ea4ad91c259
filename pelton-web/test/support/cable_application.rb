# frozen_string_literal: true

require "test_helper"
require "pelton/web/cable"
require "support/cable_client"

# Serves an application with a cable at /cable. For PeltonTests.
module CableApplication
  include CableClient

  private

  # @yieldparam url [String] of the cable
  # @yieldparam application [Class]
  def cable_application(**settings)
    application = Class.new(Pelton::Web::Application)
    {environment: "test", secrets: ["s" * 64], cable: {pubsub: Pelton::PubSub.new}}.merge(settings)
      .each { |name, value| application.settings.public_send(:"#{name}=", value) }
    application.routes do
      mount application.cable, at: "/cable"
      get("/sign_in") { session["user"] = params[:user] }
    end
    serving_here(application) { |port| yield "ws://127.0.0.1:#{port}/cable", application }
  end

  # Defines a constant for the block.
  def defining(name, value)
    Object.const_set(name, value)
    yield
  ensure
    Object.send(:remove_const, name)
  end
end
