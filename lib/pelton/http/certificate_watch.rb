# frozen_string_literal: true

module Pelton
  module HTTP
    # Notices that files have changed, such as certificates that certbot has renewed: by their times, each five seconds.
    # @private
    class CertificateWatch
      PAUSE = 5
      private_constant :PAUSE

      # @param paths [Array<String>]
      # @param pause [Numeric] seconds
      # @yield when one of the files has changed
      def initialize(paths, pause: PAUSE, &changed)
        @paths = paths
        @pause = pause
        @changed = changed
        @stamps = stamps
      end

      # Works until its task is cancelled.
      #
      # @asynchronous
      def run
        loop do
          sleep @pause
          look
        end
      end

      # Calls the block if a file has changed since the last look.
      def look
        before, @stamps = @stamps, stamps
        @changed.call if before != @stamps
      end

      private

      # A file that is gone may be on its way back.
      def stamps
        @paths.map do |path|
          facts = File.stat(path)
          [facts.mtime, facts.size, facts.ino]
        rescue SystemCallError
          nil
        end
      end
    end
  end
end
