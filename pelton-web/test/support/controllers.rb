# frozen_string_literal: true

require "test_helper"
require_relative "requests"

# Applications for tests of controllers.
module WebControllers
  include WebRequests

  # @param controller [Class] whose actions are at "/NAME"; its own constant is made for the time of the boot
  # @return [Class] a booted application
  def serving(controller)
    name = :"Served#{controller.object_id}Controller"
    Object.const_set(name, controller)
    routed = controller.action_methods
    application = Class.new(Pelton::Web::Application) do
      routes do
        routed.each { |action| match "/#{action}(.:format)", via: :all, to: "served#{controller.object_id}##{action}" }
      end
    end
    application.boot!
    application
  ensure
    Object.__send__(:remove_const, name)
  end

  # @return [Class] an application whose block answers all requests to "/"
  def answering(settings = {}, &block)
    Class.new(Pelton::Web::Application) do
      settings.each { |name, value| self.settings.public_send(:"#{name}=", value) }
      routes { match("/", via: :all, &block) }
    end
  end

  # @return [Rack::MockResponse] what the block answers to GET
  def answer(**env, &block) = request(answering(&block), "GET", "/", **env)
end
