# frozen_string_literal: true

require_relative "chromium"
require_relative "http/servers"

# A page of a server with a cable, in a browser.
module CableBrowsing
  include HttpServers

  private

  # The loop has a thread of its own, since a call of the browser's waits for the whole page.
  #
  # @param make [Proc] makes the cable, inside the reactor
  # @param application [Proc] makes the Rack application of a cable
  # @yieldparam browser [Ferrum::Browser]
  # @yieldparam on_loop [Proc] calls its block with the cable, in the loop
  def browse(make, application)
    cable = nil
    serving_on_a_thread(make: -> { application.call(cable = make.call) }) do |port, on_loop|
      Chromium.open do |browser|
        browser.visit("http://127.0.0.1:#{port}/")
        yield browser, ->(&block) { on_loop.call { block.call(cable) } }
      end
    end
  end
end
