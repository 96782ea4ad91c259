# frozen_string_literal: true

require "fileutils"
require "json"
require "socket"

module Pelton
  module Cluster
    # The control socket: a UNIX socket that answers `GET /stats` with the cluster's figures as JSON, for curl and for
    # whoever watches. One thread, so that a client that says nothing never holds up the master.
    class Status
      DEADLINE = 1 # seconds for a client's request

      # @param path [String] readable and writable by its owner alone
      # @yieldreturn [Hash] the figures
      def initialize(path, &stats)
        @path = path
        @stats = stats
        FileUtils.rm_f(path)
        umask = File.umask(0o177)
        @server = UNIXServer.new(path)
        @thread = Thread.new { answer_all }
      ensure
        File.umask(umask) if umask
      end

      # In a worker, which has inherited it.
      def forget = @server.close

      def close
        @thread.kill
        @server.close
        FileUtils.rm_f(@path)
      end

      private

      def answer_all
        loop do
          client = @server.accept
          answer(client)
        rescue SystemCallError, IOError
          nil # that client's loss
        ensure
          client&.close
        end
      end

      def answer(client)
        return unless client.wait_readable(DEADLINE)
        request = client.read_nonblock(4096, exception: false)
        known = request.is_a?(String) && request.match?(%r{\AGET /stats[ ?\r\n]})
        body = known ? JSON.generate(@stats.call) : %({"error":"GET /stats"})
        client.write_nonblock("HTTP/1.1 #{known ? "200 OK" : "404 Not Found"}\r\nContent-Type: application/json\r\n" \
          "Content-Length: #{body.bytesize}\r\nConnection: close\r\n\r\n#{body}", exception: false)
        client.shutdown(:WR) # a worker that was forked meanwhile has the descriptor, too
      end
    end
  end
end
