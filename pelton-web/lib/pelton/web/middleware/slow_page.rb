# frozen_string_literal: true

require_relative "../development"

module Pelton
  module Web
    # Middleware for development: `/pelton/slow` shows what blocked the loop, as reported by the watchdog, to requests
    # from this machine.
    class SlowPage
      PATH = "/pelton/slow"
      # Number of kept reports.
      KEPT = 50

      class << self
        # @private
        def wrap(app, settings) = settings.development? ? new(app, settings) : app

        # Collects reports from the first call on. A block set by {Pelton.on_stall} is called as well.
        #
        # @return [Array<(Time, Watchdog::Stall)>] oldest first
        def stalls
          @stalls ||= [].tap do |kept|
            before = Pelton.on_stall do |stall|
              kept << [Time.now, stall]
              kept.shift if kept.size > KEPT
              before ? before.call(stall) : Watchdog.report(stall)
            end
          end
        end
      end

      def initialize(app, settings)
        @app = app
        @root = "#{File.expand_path(settings.root)}/"
        SlowPage.stalls
      end

      # Rack's interface.
      #
      # @asynchronous if the application waits
      def call(env)
        unless env["PATH_INFO"] == PATH && env["REQUEST_METHOD"] == "GET" && Development.local?(env)
          return @app.call(env)
        end
        Development.page("slow", 200, threshold: Pelton.watchdog, stalls: SlowPage.stalls.dup, places: places)
      end

      private

      # [place, number, total seconds] for each place in the program, the worst first.
      def places
        SlowPage.stalls.map(&:last).group_by { |stall| place(stall.backtrace) }
          .map { |place, stalls| [place, stalls.size, stalls.sum(&:seconds)] }.sort_by { |_, _, seconds| -seconds }
      end

      def place(backtrace)
        lines = backtrace.map(&:strip)
        (lines.find { |line| line.include?(@root) } || lines.first).to_s.sub(@root, "")
      end
    end
  end
end
