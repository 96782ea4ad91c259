# frozen_string_literal: true

require_relative "../pinning"
require_relative "persistent_clients"

module Pelton
  module Lab
    # Clients that request one path again and again, each on a connection that stays, with the headers of one visitor.
    # The status of every answer is checked.
    class PageClients
      include PersistentClients

      # One of them: it has one request under way.
      Client = Struct.new(:socket, :buffer, :sent)

      # @param run [Run] gets the verdict, and says on which core the clients belong
      # @param server [WebServer]
      # @param headers [Hash{String => String}] of each request
      def initialize(run, server, clients, headers)
        @run = run
        @server = server
        @size = clients
        @headers = headers
        Pinning.move(run.server_core)
      end

      # Sends so many requests, of all clients together, on new connections.
      # @param post [String, nil] the body of each request, as JSON; nil: GET
      # @param status [Integer] of each answer
      # @return [WebLoad::Done]
      def load(path, requests, post: nil, status: 200)
        clients = Array.new([@size, requests].min) { Client.new(TCPSocket.new("127.0.0.1", @server.port), +"".b) }
        text = request(path, post)
        exchange_all(clients, requests, ->(client) { write_request(client, text) }) do |_, answer|
          @run.expect(status, answer.first, "an answer's status")
        end
      ensure
        clients&.each { |client| client.socket.close }
      end

      private

      def request(path, post)
        head = {"Host" => "127.0.0.1:#{@server.port}", **@headers}
        head.update("Content-Type" => "application/json", "Content-Length" => post.bytesize.to_s) if post
        "#{post ? "POST" : "GET"} #{path} HTTP/1.1\r\n#{head.map { |pair| "#{pair.join(": ")}\r\n" }.join}\r\n#{post}"
      end
    end
  end
end
