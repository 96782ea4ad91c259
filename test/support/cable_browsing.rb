# frozen_string_literal: true

require_relative "chromium"

# A page of a server with a cable, in a browser.
module CableBrowsing
  private

  # The loop has a thread of its own, since a call of the browser's waits for the whole page.
  #
  # @param make [Proc] makes the cable, inside the reactor
  # @param application [Proc] makes the Rack application of a cable
  # @yieldparam browser [Ferrum::Browser]
  # @yieldparam on_loop [Proc] calls its block with the cable, in the loop
  def browse(make, application)
    started = Thread::Queue.new
    serving = Thread.new do
      Pelton.run do
        cable = make.call
        listener = Pelton::HTTP::Server.new(application.call(cable)).listen("tcp://127.0.0.1:0")
        started << [listener.port, cable, Pelton::Reactor.current]
        sleep
      end
    end
    port, cable, reactor = started.pop
    Chromium.open do |browser|
      browser.visit("http://127.0.0.1:#{port}/")
      yield browser, ->(&block) { reactor.next_tick { block.call(cable) } }
    end
  ensure
    reactor&.stop
    serving&.join
  end
end
