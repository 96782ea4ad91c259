# frozen_string_literal: true

require_relative "../development"
require_relative "../response/problem"

module Pelton
  module Web
    class Settings
      # @!attribute filter_parameters
      #   @return [Regexp] names of parameters whose values are never shown
      setting(:filter_parameters, /passw|secret|token|_key|crypt|salt|certificate|otp|cvv|cvc|ssn/i) do |value|
        "must be a Regexp" unless value.is_a?(Regexp)
      end

      # @!attribute raise_errors
      #   @return [Boolean] whether errors of the program are raised to the caller; by default in the environment "test"
      setting(:raise_errors, ->(settings) { settings.environment == "test" }) do |value|
        "must be true or false" unless [true, false].include?(value)
      end
    end

    # Middleware: logs unrescued errors and responds to them, with 503 if a service that the action needs does not
    # answer, and otherwise with
    # 500. In development, requests from this machine get a page with the source, the
    # parameters and all waiting fibers; others get only the status. Clients that accept JSON get a problem document.
    class ErrorPage
      # Lines to show before and after the one that failed.
      AROUND = 5
      # Entries to show of parameters, whose number and size the client chooses.
      ENTRIES = 100
      LENGTH = 500
      # Errors of a service that the action needs, such as a database that restarts or a row that is locked: clients and
      # proxies may try again.
      UNAVAILABLE = %w[
        Pelton::ConnectionError Pelton::TimeoutError Pelton::OverloadError
        Sequel::DatabaseConnectionError Sequel::DatabaseDisconnectError Sequel::PoolTimeout Sequel::DatabaseLockTimeout
        Sequel::SerializationFailure
        ActiveRecord::ConnectionNotEstablished ActiveRecord::ConnectionFailed ActiveRecord::ConnectionTimeoutError
        ActiveRecord::LockWaitTimeout
        ActiveRecord::StatementTimeout ActiveRecord::TransactionRollbackError
        SQLite3::BusyException Extralite::BusyError
      ].freeze
      # Libraries' errors that say in their cause what the database has answered.
      WRAPPERS = %w[Sequel::DatabaseError ActiveRecord::StatementInvalid].freeze
      private_constant :UNAVAILABLE, :WRAPPERS

      # A part of a file.
      #
      # @!attribute lines
      #   @return [Array<(Integer, String)>]
      Excerpt = Struct.new(:file, :line, :lines)

      # @private
      def self.wrap(app, settings) = settings.raise_errors ? app : new(app, settings)

      def initialize(app, settings)
        @app = app
        @settings = settings
        @root = "#{File.expand_path(settings.root)}/"
      end

      # Rack's interface.
      #
      # @asynchronous if the application waits
      def call(env)
        @app.call(env)
      rescue StandardError, ScriptError, SystemStackError => error
        problem = Problem.of(error, @settings) and return problem.response(env)
        Pelton.report_error(error, "#{env["REQUEST_METHOD"]} #{env["PATH_INFO"]}")
        answer(env, error)
      end

      private

      def answer(env, error)
        return brief(error).response(env) unless @settings.development? && Development.local?(env)
        html = Rack::Utils.best_q_match(env["HTTP_ACCEPT"].to_s,
          %w[text/plain text/html application/json application/problem+json]) == "text/html"
        unless html
          return Problem.new(500, detail: "#{error.class}: #{error.message}",
            members: {backtrace: error.backtrace.to_a.first(ENTRIES)}).response(env)
        end
        page = Development.page("error", 500, describe(env, error))
        (env["REQUEST_METHOD"] == "HEAD") ? [page[0], page[1], []] : page
      end

      def brief(error)
        unavailable?(error) ? Problem.new(503, headers: {"retry-after" => "1"}) : Problem.new(500)
      end

      def unavailable?(error)
        names = error.class.ancestors.map(&:name)
        UNAVAILABLE.intersect?(names) || (WRAPPERS.intersect?(names) && !error.cause.nil? && unavailable?(error.cause))
      end

      def describe(env, error)
        {error: error, message: shown(error.message, LENGTH * 10), method: env["REQUEST_METHOD"],
         path: env["PATH_INFO"], route: env["pelton.web.route"]&.to_s,
         id: env["pelton.request_id"], excerpt: excerpt(error),
         backtrace: error.backtrace.to_a.map { |line| [line.delete_prefix(@root), line.start_with?(@root)] },
         causes: causes(error), params: params(env), waiting: waiting}
      end

      # The innermost line of the program's code; for a syntax error, the line at the start of Ruby's message.
      def excerpt(error)
        places = [*(error.message if error.is_a?(SyntaxError)), *error.backtrace]
        file, line = places.filter_map { |place| place.match(/\A(.+?):(\d+)/)&.captures }.find do |path, _|
          path.start_with?(@root)
        end
        return unless file && File.file?(file)
        line = line.to_i
        first = [line - AROUND, 1].max
        lines = File.foreach(file, encoding: "UTF-8").lazy.drop(first - 1).first(2 * AROUND + 1).map do |text|
          text.scrub.chomp
        end
        Excerpt.new(file.delete_prefix(@root), line, lines.each_with_index.map { |text, index| [first + index, text] })
      end

      def causes(error)
        list = []
        list << error while (error = error.cause) && list.size < 10
        list
      end

      # The error may come from parameters that cannot be parsed.
      def params(env)
        Request.new(env).params.first(ENTRIES).map { |name, value| [shown(name), shown(filtered(name, value))] }
      rescue => error
        [["(unreadable)", shown(error.message)]]
      end

      def filtered(name, value)
        return "[filtered]" if @settings.filter_parameters.match?(name.to_s)
        case value
        when Hash then value.to_h { |key, one| [key, filtered(key, one)] }
        when Array then value.map { |one| filtered("", one) }
        else value
        end
      end

      def shown(value, length = LENGTH)
        text = (value.is_a?(String) ? value : value.inspect).scrub
        (text.length > length) ? "#{text[0, length]}…" : text
      end

      # [title, backtrace] of all tasks and other waiting fibers.
      def waiting
        return [] unless Pelton.running?
        tasks = Pelton.tasks.reject { |task| task == Task.current }.first(ENTRIES).map do |task|
          ["Task #{[task.name, task.activity, ("from #{task.origin}" if task.origin)].compact.join(", ")}",
            own(task.backtrace)]
        end
        known = tasks.map(&:last)
        fibers = (Reactor.current.parked.uniq - [Fiber.current]).first(ENTRIES).map do |fiber|
          ["Fiber", own(fiber.backtrace)]
        end
        tasks + fibers.reject { |_, lines| lines.empty? || known.include?(lines) }
      end

      def own(backtrace)
        lines = backtrace.to_a
        program = lines.select { |line| line.start_with?(@root) }
        (program.any? ? program : lines).first(20).map { |line| line.delete_prefix(@root) }
      end
    end
  end
end
