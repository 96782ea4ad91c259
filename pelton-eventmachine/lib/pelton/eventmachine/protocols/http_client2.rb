# frozen_string_literal: true

require_relative "http_response_reader"

module EventMachine
  module Protocols
    # Requests on a connection that stays open. They are pipelined: each is sent at once, and answered in order.
    #
    #     http = EM::P::HttpClient2.connect("localhost", 80)
    #     http.get("/").callback { |response| p response.status, response.headers, response.content }
    class HttpClient2 < Connection
      # A request, which becomes its response.
      class Request
        include Deferrable

        # @return [Symbol, nil] :bad_response when the response was no HTTP or incomplete; nil when there was no
        #   response
        attr_reader :internal_error

        # @private
        def initialize(verb, args)
          @verb, @args = verb, args
          @response = HttpResponseReader.new(head: verb == "HEAD")
        end

        # @return [String, nil] "1.1"
        def version = @response.version

        # @return [Integer, nil] nil when there was no response
        def status = @response.status.nonzero?

        # @return [Array<String>] the status line and the header lines
        def header_lines = @response.header_lines

        # @return [Hash{String => Array<String>}] values by the name in lower case
        def headers = @response.headers

        # @return [String, nil] binary; nil unless it is complete
        def content = (@response.state == :done) ? @response.content : nil

        # @private
        def to_s
          body = (@args[:content] || @args[:body])&.to_s
          lines = [request_line, "Host: #{@args[:host_header]}"]
          lines << "Authorization: #{@args[:authorization]}" if @args[:authorization]
          lines << "Cookie: #{@args[:cookie]}" if @args[:cookie]
          if body
            lines << "Content-type: #{@args[:content_type] || "application/octet-stream"}"
            lines << "Content-length: #{body.bytesize}"
          end
          wrong = lines.find { |line| line.match?(/[\r\n]/) } and raise ArgumentError,
            "a header contains a line end: #{wrong.inspect}"
          "#{lines.join("\r\n")}\r\n\r\n#{body}"
        end

        # @return [String, nil] the bytes that follow the response, when that is complete
        # @private
        def receive(data)
          @response.receive_data(data)
          settle
          @response.rest if @response.state == :done
        end

        # Called when the connection has ended.
        # @private
        def finish
          begun = @response.status > 0
          @response.finish
          settle(begun)
        end

        # @private
        def wrong? = @response.state == :wrong

        private

        def request_line
          path = (@args[:uri] || @args[:url] || @args[:request] || "/").to_s
          path += "?#{@args[:query_string]}" if @args[:query_string]
          "#{@verb} #{path} HTTP/#{@args[:version] || "1.1"}"
        end

        def settle(begun = true)
          return succeed(self) if @response.state == :done
          return unless wrong?
          @internal_error = :bad_response if begun
          set_deferred_failure
        end
      end

      # @overload connect(host, port)
      # @overload connect(options)
      #   @option options [String] :host
      #   @option options [Integer] :port 80, or 443
      #   @option options [Boolean] :ssl
      #   @option options [String] :version 1.1
      # @return [HttpClient2]
      # @raise [ArgumentError] when the port is no number
      def self.connect(host, port = nil)
        args = host.is_a?(Hash) ? host.dup : {host: host, port: port}
        args[:port] = Integer(args[:port] || (args[:ssl] ? 443 : 80))
        EventMachine.connect(args[:host], args[:port], self) { |client| client.instance_variable_set(:@args, args) }
      end

      def initialize
        super
        @requests = []
      end

      # @param args [String, Hash] the path; or a Hash with :uri, :query_string, :authorization, :cookie, :host_header,
      #   :version
      # @return [Request]
      def get(args) = request("GET", args)

      # @param args [String, Hash] as for {#get}, with :content and :content_type
      # @return [Request]
      def post(args) = request("POST", args)

      # @param args [String, Hash] as for {#get}
      # @return [Request]
      def head(args) = request("HEAD", args)

      # @private
      def connection_completed
        start_tls(sni_hostname: @args[:host]) if @args[:ssl]
        @connected = true
        @requests.each { |request| send_data(request.to_s) }
      end

      # @private
      def receive_data(data)
        until data.nil? || data.empty? || @requests.empty?
          request = @requests.first
          data = request.receive(data)
          return close_connection if request.wrong? # the beginning of the next response is not known
          @requests.shift if data
        end
      end

      # @private
      def unbind(*)
        @closed = true
        @requests.shift.finish until @requests.empty?
      end

      private

      def request(verb, args)
        args = {uri: args} if args.is_a?(String)
        request = Request.new(verb, {host_header: host_header, version: @args[:version]}.merge(args))
        return request.tap { EventMachine.next_tick { request.finish } } if @closed
        text = request.to_s
        @requests << request
        send_data(text) if @connected
        request
      end

      def host_header
        usual = @args[:ssl] ? 443 : 80
        (@args[:port] == usual) ? @args[:host] : "#{@args[:host]}:#{@args[:port]}"
      end
    end
  end
end
