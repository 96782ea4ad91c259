# frozen_string_literal: true

require "json"
require "rack/lint"
require_relative "../web"
Pelton.require_gem("rack/test",
  "pelton/web/test needs the gem rack-test: add gem \"rack-test\" to the Gemfile's group :test")
require "pelton/test"
require_relative "test/events"
require_relative "test/selecting"

module Pelton
  module Web
    # Helpers for tests of web applications: `require "pelton/web/test"`. Requests are made by the gem rack-test (`get`,
    # `post`, `follow_redirect!`, `header`, `set_cookie`, uploads), which keeps cookies and thereby sessions. They run
    # in the same process, without a socket, inside a reactor, and through Rack::Lint. They seem to come from the
    # application's own pages; after `header "Sec-Fetch-Site", "cross-site"` from another site.
    #
    #     class PostsTest < Minitest::Test
    #       include Pelton::Web::Test
    #
    #       def app = Shop
    #
    #       def test_creation
    #         post "/posts", post: {title: "One"}
    #         assert_redirected_to "/posts/1"
    #         follow_redirect!
    #         assert_response 200, "One"
    #       end
    #     end
    module Test
      include Rack::Test::Methods
      include Pelton::Test
      include Selecting

      # Calls an application inside a reactor, until its response is complete and the background work that it started is
      # done.
      # @private
      class InReactor
        include Pelton::Test

        # Collects what a streaming body writes.
        class Sink
          attr_reader :text

          def initialize(text = +"") = @text = text

          def write(part)
            @text << part
            part.bytesize
          end
          alias_method :<<, :write

          def flush = self

          def read(*) = nil

          def close(*) = nil
          alias_method :close_read, :close
          alias_method :close_write, :close

          def closed? = false
        end

        def initialize(app, timeout)
          @app = Rack::Lint.new(app)
          @timeout = timeout
        end

        def call(env)
          Pelton.running? ? answer(env) : in_reactor(timeout: @timeout, leftovers: true) do
            answer(env).tap { Background.drain_all(timeout: nil) }
          end
        end

        private

        def answer(env)
          status, headers, body = @app.call(env)
          if (events = env[Events::KEY]) && headers["content-type"].to_s.start_with?("text/event-stream")
            events.read(body)
            body = nil
            return [status, headers, []]
          end
          sink = Sink.new
          body.respond_to?(:each) ? body.each { |part| sink.write(part) } : body.call(sink)
          [status, headers, [sink.text]]
        ensure
          body.close if body.respond_to?(:close)
        end
      end

      # Serves an application to browsers until the thread is killed or the fiber cancelled. With the gem capybara:
      #
      #     Capybara.register_server(:pelton) { |app, port, host| Pelton::Web::Test.serve(app, port: port, host: host) }
      #     Capybara.server = :pelton
      #
      # @param port [Integer] 0 for any free one
      # @yieldparam port [Integer] the port it listens on
      def self.serve(app, host: "127.0.0.1", port: 0)
        Pelton.run do
          server = HTTP::Server.new(app)
          listener = server.listen("tcp://#{host}:#{port}")
          yield listener.port if block_given?
          sleep
        ensure
          server&.stop(timeout: 0)
        end
        nil
      end

      # The application. Tests that do not define it use {Test.app=}.
      def app = Test.app || raise(ConfigurationError, "define the method app in the test, or set Pelton::Web::Test.app")

      class << self
        attr_accessor :app
      end

      # @return [Numeric] seconds for a request
      def request_timeout = 10

      # Called by rack-test.
      # @private
      def build_rack_test_session(_name)
        Rack::Test::Session.new(InReactor.new(app, request_timeout), "localhost").tap do |session|
          session.header("Sec-Fetch-Site", "same-origin")
        end
      end

      # @return [Rack::MockResponse] the last response
      def response = last_response

      # @return [Object] the last response's body, parsed as JSON
      # @raise [JSON::ParserError]
      def json_response = JSON.parse(last_response.body)

      # Sends JSON, and accepts JSON.
      #
      # @param verb [Symbol] :post
      # @param data [Object]
      def send_json(verb, path, data)
        custom_request(verb.to_s.upcase, path, JSON.generate(data), "CONTENT_TYPE" => "application/json",
          "HTTP_ACCEPT" => "application/json")
      end

      # Returns a file for a form: `post "/photos", photo: upload("test/files/me.png", "image/png")`.
      #
      # @param path [String] the file's path; with `content:`, only its name
      # @param type [String] the content-type that the client claims
      # @param content [String, nil] the file's bytes
      # @raise [RuntimeError] if there is no such file
      def upload(path, type = Rack::Mime.mime_type(File.extname(path)), content: nil)
        return Rack::Test::UploadedFile.new(path, type, true) unless content
        Rack::Test::UploadedFile.new(StringIO.new(content.b), type, true, original_filename: File.basename(path))
      end

      # Opens an event stream, and reads it while the block sends other requests. Before the block starts, the
      # application's block has run until it waits. When the block returns, the client leaves.
      #
      #     get_events "/messages/live" do |events|
      #       post "/messages", text: "hello"
      #       assert_includes events.next.data, "hello"
      #     end
      #
      # @param params [Hash] the query
      # @param timeout [Numeric] seconds for each event
      # @yieldparam events [Events]
      # @return the block's value
      # @raise [Error] if the response is no event stream
      # @raise [TimeoutError] if the block takes longer than 60 seconds
      def get_events(path, params = {}, timeout: request_timeout, **more, &block)
        unless Pelton.running?
          return in_reactor(timeout: 60,
            leftovers: true) { get_events(path, params, timeout: timeout, **more, &block).tap { Background.drain_all } }
        end
        events = Events.new(timeout)
        custom_request("GET", path, params.merge(more), "HTTP_ACCEPT" => "text/event-stream", Events::KEY => events)
        unless last_response["content-type"].to_s.start_with?("text/event-stream")
          raise Error, "GET #{path} was answered #{last_response.status}, and not with an event stream: " \
            "#{last_response.body[0, 500]}"
        end
        turn
        yield events
      ensure
        events&.close
      end

      # Fails unless the last response has this status, and its body these parts. Needs the assertions of Minitest or
      # Test::Unit.
      #
      # @param status [Integer, Symbol] 404, :not_found, or :success for any of 200 to 299
      # @param parts [Array<String, Regexp>]
      def assert_response(status, *parts)
        body = last_response.body
        message =
          "#{last_request.request_method} #{last_request.path} was answered #{last_response.status}: #{body[0, 500]}"
        if status == :success then assert(last_response.successful?, message)
        else assert_equal(Rack::Utils.status_code(status), last_response.status, message)
        end
        parts.each { |part| part.is_a?(Regexp) ? assert_match(part, body) : assert_includes(body, part) }
      end

      # Asserts that the last response redirects.
      #
      # @param path [String] the path, with its query
      def assert_redirected_to(path)
        assert last_response.redirect?,
          "the answer was #{last_response.status}, no redirection: #{last_response.body[0, 500]}"
        assert_equal path, last_response["location"].to_s.delete_prefix(last_request.base_url)
      end
    end
  end
end
