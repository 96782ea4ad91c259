# frozen_string_literal: true

require "net/http"
require "pelton/clock"
require_relative "../statistics"
require_relative "load"

module Pelton
  module Lab
    # Requests at fixed times, on one connection: what other users of a server notice.
    class RequestsBeside
      # Seconds between two of them.
      INTERVAL = 0.005

      # @return [WebLoad::Done] of the last {#pace}
      attr_reader :last

      # @param url [String]
      def initialize(run, url)
        @run = run
        @url = URI(url)
      end

      # One that is late counts from the time when it was due.
      # @return [WebLoad::Done]
      def pace(requests)
        started = Clock.now
        times = Net::HTTP.start(@url.host, @url.port) do |http|
          Array.new(requests) do |number|
            due = started + number * INTERVAL
            sleep(Clock.left(due))
            @run.expect("200", http.get(@url.path).code, "the status of a request")
            (Clock.now - due) * 1000
          end
        end
        @last = WebLoad::Done.new(requests, Clock.now - started,
          *[0.5, 0.99].map { |share| Statistics.percentile(times, share) })
      end
    end
  end
end
