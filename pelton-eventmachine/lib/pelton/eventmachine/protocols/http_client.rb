# frozen_string_literal: true

require_relative "http_response_reader"

module EventMachine
  module Protocols
    # One request, one response.
    #
    #     http = EM::P::HttpClient.request(host: "localhost", port: 80, request: "/index.html")
    #     http.callback { |response| p response[:status], response[:headers], response[:content] }
    #
    # Callbacks get a Hash with the `:status` (Integer), the `:headers` (lines, the status line first) and the
    # `:content`. Errbacks get `{status: 0}` when there was no response, or only a part of one.
    class HttpClient < Connection
      include Deferrable

      # The longest content of a request, in bytes.
      MaxPostContentLength = 20 * 1024 * 1024 # standard:disable Naming/ConstantName

      # @param args [Hash]
      # @option args [String] :host a name or an address
      # @option args [Integer] :port 80
      # @option args [Boolean] :ssl
      # @option args [String] :verb GET; :method means the same
      # @option args [String] :request the path; :uri means the same
      # @option args [String] :query_string
      # @option args [String] :content sent with POST and PUT
      # @option args [String] :contenttype; :content_type means the same
      # @option args [Hash] :basic_auth :username and :password
      # @option args [String] :cookie
      # @option args [String] :host_header the host name for the Host header
      # @option args [Hash] :custom_headers
      # @option args [String] :version 1.1
      # @return [HttpClient]
      def self.request(args = {})
        args[:port] ||= 80
        EventMachine.connect(args.fetch(:host), args[:port], self) do |client|
          client.instance_variable_set(:@args, args)
        end
      end

      # @private
      def connection_completed
        start_tls(sni_hostname: @args[:host]) if @args[:ssl]
        send_request(@args)
      end

      # @private
      def receive_data(data)
        return if @settled
        @response.receive_data(data)
        settle unless @response.state == :reading
      end

      # @private
      def unbind(*)
        @response&.finish
        settle
      end

      private

      def send_request(args)
        verb = (args[:verb] || args[:method] || :get).to_s.upcase
        content = args[:content].to_s if %w[POST PUT].include?(verb)
        raise "oversized content in HTTP POST" if content && content.bytesize > MaxPostContentLength
        @response = HttpResponseReader.new(head: verb == "HEAD")
        lines = ["#{verb} #{target(args)} HTTP/#{args[:version] || "1.1"}", *headers(args, content)]
        wrong = lines.find { |line| line.match?(/[\r\n]/) } and raise ArgumentError,
          "a header contains a line end: #{wrong.inspect}"
        send_data("#{lines.join("\r\n")}\r\n\r\n")
        send_data(content) if content
      end

      def target(args)
        path = (args[:request] || args[:uri] || "/").to_s
        path = "/#{path}" unless path.start_with?("/")
        args[:query_string] ? "#{path}?#{args[:query_string]}" : path
      end

      def headers(args, content)
        lines = ["Host: #{args[:host_header] || args[:host]}:#{args[:port]}",
          "User-agent: #{args[:user_agent] || "Ruby EventMachine"}"]
        if content
          lines << "Content-type: #{args[:contenttype] || args[:content_type] || "application/octet-stream"}"
          lines << "Content-length: #{content.bytesize}"
        end
        lines << "Cookie: #{args[:cookie]}" if args[:cookie]
        args[:custom_headers]&.each { |name, value| lines << "#{name}: #{value}" }
        if args[:basic_auth]
          lines <<
            "Authorization: Basic #{["#{args[:basic_auth][:username]}:#{args[:basic_auth][:password]}"].pack("m0")}"
        end
        lines
      end

      def settle
        return if @settled
        @settled = true
        close_connection
        return fail(status: 0) unless @response&.state == :done
        succeed(content: @response.content, headers: @response.header_lines, status: @response.status)
      end
    end
  end
end
