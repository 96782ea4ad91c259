# frozen_string_literal: true

require "delegate"

module Pelton
  module HTTP
    # What orchestrators ask a server: whether it is alive, and whether it is ready for requests.
    # {Configuration#live_path} and {Configuration#ready_path} are answered before the application; the control socket
    # answers the same at `/live` and `/ready`, and says why.
    #
    # - Alive: the loop turns. Who answers here at all is alive.
    # - Ready: the application is loaded, the server does not stop, and the block of {Configuration#ready}, if there is
    #   one, agrees. It is called once a second at most, however many ask.
    #
    # Such requests are logged only when they are answered with 503.
    # @private
    class Health
      # Seconds for which an answer of the block holds.
      PAUSE = 1
      # In the env of a request that need not be logged.
      UNLOGGED = "pelton.unlogged"
      VERBS = %w[GET HEAD].freeze

      # A log without the requests that need not be logged.
      class Log < SimpleDelegator
        def call(event) = (super unless event.payload[:env]&.key?(UNLOGGED))
      end
      private_constant :PAUSE, :UNLOGGED, :VERBS, :Log

      # @param live_path [String, nil]
      # @param ready_path [String, nil]
      # @param check [#call, nil] returns whether the application can serve
      # @param timeout [Numeric, nil] seconds for the check
      def initialize(live_path: nil, ready_path: nil, check: nil, timeout: nil)
        @answers = {live_path => -> {}, ready_path => method(:obstacle)}.except(nil)
        @check = check
        @timeout = timeout
        @found = "it is not known yet" # the reason of the last check; nil: it agreed
      end

      # The paths, whose requests must not wait for others.
      #
      # @return [Array<String>]
      def paths = @answers.keys

      # The server stops: it is not ready any more.
      def stop = @stopping = true

      # @return [#call] the application for all other paths
      def around(app)
        return app if @answers.empty?
        lambda do |env|
          obstacle = @answers[env["PATH_INFO"]] if VERBS.include?(env["REQUEST_METHOD"])
          obstacle ? answer(env, obstacle.call) : app.call(env)
        end
      end

      # @param log [#call, nil]
      # @return [#call, nil] the log for the server
      def sparing(log) = (log && @answers.any?) ? Log.new(log) : log

      # Why the server is not ready for requests.
      #
      # @return [String, nil] nil: it is ready
      # @asynchronous
      def obstacle
        return "it stops" if @stopping
        check if @check && !@checking && (@checked.nil? || Clock.now - @checked >= PAUSE)
        @found if @check
      end

      private

      # The reason is for operators, and not for everyone who can reach the port.
      def answer(env, obstacle)
        env[UNLOGGED] = true unless obstacle
        body = obstacle ? "not ready\n" : "ok\n"
        [obstacle ? 503 : 200,
          {"content-type" => "text/plain", "cache-control" => "no-store", "content-length" => body.bytesize.to_s},
          [body]]
      end

      def check
        @checking = true
        found = reason
        report(found) if found.nil? != @found.nil? || @checked.nil?
        @found = found
      ensure
        @checked = Clock.now
        @checking = false
      end

      def reason
        (Pelton.timeout(@timeout) { @check.call }) ? nil : "the block of ready says no"
      rescue => error
        "the block of ready failed: #{error.message} (#{error.class})"
      end

      def report(found) = found ? Pelton.logger.warn("not ready: #{found}") : Pelton.logger.info("ready")
    end
  end
end
