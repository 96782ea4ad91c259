# frozen_string_literal: true

require "json"
require "securerandom"
require "socket"
require "uri"
require "zlib"
require_relative "../pinning"
require_relative "persistent_clients"

module Pelton
  module Lab
    # Browsers of the chat, each of another user who has signed in by a form: a connection that stays, one request after
    # the other, answers compressed. Every answer is checked: its status, the marks of its page, and that it is this
    # user's.
    class SignedInClients
      include PersistentClients

      # What a server adds to a form, in a place of its own: tokens, and attributes without a meaning here.
      TOKENS = "input[type=hidden][name=authenticity_token], input[type=hidden][name=utf8]"
      IGNORED = %w[accept-charset autocomplete data-disable-with data-position].freeze
      TOKEN = /id="composer".*?name="authenticity_token" value="([^"]+)"/m
      private_constant :TOKENS, :IGNORED, :TOKEN

      # A page: its path, the status of its answers, whether they name the user, and how many elements of a class they
      # have.
      Page = Struct.new(:path, :status, :personal, :mark, :count, keyword_init: true)

      # One of the browsers: it has one request under way.
      Client = Struct.new(:user, :name, :socket, :cookies, :token, :buffer, :sent, :posted, :seen) do
        def cookie = cookies.map { |pair| pair.join("=") }.join("; ")
      end

      # @return [Hash{String => Array}] the posts that were acknowledged: number of the user, room, and message by the
      #   client's number
      attr_reader :acknowledged

      # @param run [Run] gets the verdict
      # @param users [Hash{Integer => String}] names by number
      def initialize(run, server, users)
        @run = run
        @port = server.port
        @acknowledged = {}
        Pinning.move(run.server_core)
        @clients = users.map { |user, name| sign_in(Client.new(user, name, connect, {}, nil, +"".b, nil, nil, {})) }
      end

      # @return [Array<String>] what each sends to show who it is
      def cookies = @clients.map(&:cookie)

      # Sends so many requests, of all clients together, on new connections: servers close those that were idle since
      # the last time.
      # @return [WebLoad::Done]
      def load(page, requests)
        reconnect
        exchange_all(@clients, requests, ->(client) { ask(client, page) }) do |client, answer|
          check(client, page, answer)
        end
      end

      # The answers of a page to each user, as trees without what may differ between servers: order of attributes, white
      # space, tokens, positions of streams and the fingerprints of files.
      # @return [Array<String>]
      def canonical(page)
        require "nokogiri"
        reconnect
        @clients.map do |client|
          ask(client, page)
          canonical_text(text_of(wait(client)))
        end
      end

      def close = @clients.each { |client| client.socket.close }

      private

      def connect = TCPSocket.new("127.0.0.1", @port)

      def reconnect
        close
        @clients.each { |client| client.socket = connect }
      end

      def sign_in(client)
        form =
          URI.encode_www_form("sign_in[email]" => "user#{client.user}@example.com",
            "sign_in[password]" => "correct horse battery")
        status, = exchange(client, "POST", "/sign_in", form)
        @run.expect(303, status, "the status of a sign-in")
        status, head, body = exchange(client, "GET", "/rooms/1")
        @run.expect(200, status, "the status of a room")
        client.token = text_of([status, head, body])[TOKEN, 1]
        client
      end

      def exchange(client, method, path, body = nil)
        write(client, method, path, body)
        wait(client).tap { |_, head, _| keep_cookies(client, head) }
      end

      def keep_cookies(client, head)
        head.scan(/^set-cookie: ([^=]+)=([^;\r]*)/i) { |name, value| client.cookies[name] = value }
      end

      def ask(client, page)
        return write(client, "GET", page.path) unless page.status == 201
        client.posted = SecureRandom.uuid
        form = {"message[text]" => "Message #{client.posted} of user #{client.user}.",
                "message[client_id]" => client.posted, "authenticity_token" => client.token}
        write(client, "POST", page.path, URI.encode_www_form(form.compact))
      end

      def write(client, method, path, body = nil)
        sent = "#{method} #{path} HTTP/1.1\r\nHost: 127.0.0.1:#{@port}\r\nAccept-Encoding: gzip\r\n" \
          "Sec-Fetch-Site: same-origin\r\n" \
          "Accept: #{(method == "POST" && path != "/sign_in") ? "application/json" : "text/html"}\r\n" \
          "Cookie: #{client.cookie}\r\n"
        sent << "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: #{body.bytesize}\r\n" if body
        write_request(client, sent << "\r\n" << body.to_s)
      end

      def text_of((_, head, body))
        (head.match?(/^content-encoding: *gzip/i) ? Zlib.gunzip(body) : body).force_encoding("UTF-8")
      end

      # What a client has seen already, byte for byte, is not looked at again.
      def check(client, page, answer)
        status, _, body = answer
        @run.expect(page.status, status, "an answer's status")
        return acknowledge(client, page, text_of(answer)) if status == 201
        return if client.seen[page.path] == body
        client.seen[page.path] = body
        text = text_of(answer)
        @run.expect(page.count, text.scan(page.mark).size, "the number of #{page.mark} in #{page.path}")
        if page.personal
          @run.expect(true, text.include?("<p class=\"account\"><b>#{client.name}</b>"),
            "whether an answer is that of its user")
        end
      end

      def acknowledge(client, page, body)
        @acknowledged[client.posted] = [client.user, page.path[/\d+/].to_i, JSON.parse(body).fetch("id")]
      end

      def canonical_text(html)
        tree = html.include?("<html") ? Nokogiri::HTML5(html) : Nokogiri::HTML5.fragment(html)
        tree.css(TOKENS).each(&:remove)
        lines = []
        tree.traverse { |node| lines << line_of(node) }
        lines.compact.join("\n")
      end

      def line_of(node)
        return node.text.strip.squeeze(" \n") if node.text? && !node.text.strip.empty?
        return unless node.element?
        attributes = node.attributes.except(*IGNORED).map do |name, one|
          "#{name}=#{one.value.sub(/-\h{8,}(?=\.(css|js|svg)\z)/, "")}"
        end
        "#{node.name} #{attributes.sort.join(" ")}"
      end
    end
  end
end
