# frozen_string_literal: true

require "io/wait"
require "socket"
require "pelton/clock"
require_relative "../statistics"
require_relative "load"

module Pelton
  module Lab
    # Clients like a proxy's or a browser's: a connection that stays, HTTP/1.1, one request after the other, answers
    # with a length or in chunks. For classes that have `@run`, which gets the verdict, and whose clients have `socket`,
    # `buffer` and `sent`.
    module PersistentClients
      LATE = 60 # seconds for an answer
      private_constant :LATE

      private

      # Sends so many requests, of all clients together.
      # @param ask [#call] writes the next request of a client
      # @yieldparam client [Object]
      # @yieldparam answer [Array(Integer, String, String)] status, head and body, to be checked
      # @return [WebLoad::Done]
      def exchange_all(clients, requests, ask)
        times = []
        left = requests
        started = Clock.now
        busy = {}
        next_one = lambda do |client|
          next unless (left -= 1) >= 0
          ask.call(client)
          busy[client.socket] = client
        end
        clients.each(&next_one)
        until busy.empty?
          ready, = IO.select(busy.keys, nil, nil, LATE)
          @run.wrong("no answer within #{LATE} s") unless ready
          ready.each do |socket|
            answer = receive(client = busy.fetch(socket)) or next
            times << Clock.now - client.sent
            busy.delete(socket)
            yield client, answer
            next_one.call(client)
          end
        end
        WebLoad::Done.new(requests, Clock.now - started,
          *[0.5, 0.99].map { |share| Statistics.percentile(times, share) * 1000 })
      end

      # @param text [String] a request
      def write_request(client, text)
        client.sent = Clock.now
        client.socket.write(text)
      end

      def wait(client)
        until (answer = receive(client))
          client.socket.wait_readable(LATE) or @run.wrong("no answer within #{LATE} s")
        end
        answer
      end

      # @return [Array(Integer, String, String), nil] status, head and body, when the answer is complete
      def receive(client)
        piece = client.socket.read_nonblock(65_536, exception: false)
        @run.wrong("a server closed the connection of a client") unless piece
        client.buffer << piece if piece.is_a?(String)
        ends = client.buffer.index("\r\n\r\n") or return
        head = client.buffer[0, ends]
        body = head.match?(/^transfer-encoding: *chunked/i) ? chunks(client.buffer,
          ends + 4) : counted(client.buffer, ends + 4, head[/^content-length: *(\d+)/i, 1].to_i)
        return unless body
        client.buffer = +"".b
        [head[9, 3].to_i, head, body]
      end

      def counted(buffer, from, length) = (buffer.byteslice(from, length) if buffer.bytesize >= from + length)

      def chunks(buffer, from)
        return unless buffer.end_with?("0\r\n\r\n")
        body = +"".b
        while (line = buffer.index("\r\n", from))
          length = buffer[from...line].to_i(16)
          return body if length.zero?
          return if buffer.bytesize < line + 4 + length
          body << buffer.byteslice(line + 2, length)
          from = line + 4 + length
        end
      end
    end
  end
end
