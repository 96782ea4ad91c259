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

      # The same in a process of their own, which a busy client does not hold up: it goes first on their core, if root
      # runs the lab. They begin at once.
      # @return [Proc] waits for them, and returns what {#pace} does
      def in_a_process(requests)
        reader, writer = IO.pipe(binmode: true)
        pid = fork do
          go_first
          writer.write(Marshal.dump(done_or_failure(requests)))
          writer.flush
          exit! # at_exit is for the process that forked
        end
        writer.close
        lambda do
          result = Marshal.load(reader.read)
          reader.close
          Process.wait(pid)
          @run.expect(WebLoad::Done, result.is_a?(String) ? result : result.class, "the requests of a process")
          result
        end
      end

      private

      def go_first
        Process.setpriority(Process::PRIO_PROCESS, 0, -10)
      rescue Errno::EACCES
        nil
      end

      # @return [WebLoad::Done, String]
      def done_or_failure(requests)
        pace(requests)
      rescue => error
        error.message
      end
    end
  end
end
