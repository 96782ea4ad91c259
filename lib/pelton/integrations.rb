# frozen_string_literal: true

module Pelton
  # What other libraries need to run on Pelton: one file each, in integrations/. A new server loads the files of the
  # libraries that are present, and so does a launcher before it serves an application, and an HTTP client before it
  # makes a connection.
  # @private
  module Integrations
    # A library came after the client, whose request must begin again.
    class Arrival < StandardError
    end

    # Constants, and the files of the libraries that define them. Those for a launcher change the whole process, which
    # is then a server's alone.
    FILES = {
      client: {"WebMock::HttpLibAdapter" => "webmock"},
      server: {"Sinatra::Helpers::Stream" => "sinatra", "Rack::Timeout::Scheduler::Timeout" => "rack_timeout"},
      launcher: {"ActiveSupport::IsolatedExecutionState" => "active_support", "I18n::Config" => "i18n",
                 "Sentry::Hub" => "sentry"}
    }.freeze

    @launches = []

    class << self
      # @param moment [Symbol] :client, :server or :launcher
      # @return [Boolean] whether a library is new
      def load(moment)
        FILES.fetch(moment).count do |constant, file|
          Object.const_defined?(constant) && require_relative("integrations/#{file}")
        end.positive?
      end

      # Registers a library that runs as long as a launcher does. The block is called on its reactor.
      #
      # @yieldreturn [#call, nil] is called when the launcher stops
      def on_launch(&block) = @launches += [block]

      # @return [Array<#call>] what ends them
      def launch = @launches.filter_map(&:call)
    end
  end
end
