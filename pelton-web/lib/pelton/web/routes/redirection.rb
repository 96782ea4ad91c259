# frozen_string_literal: true

module Pelton
  module Web
    class Routes
      # The endpoint of `redirect`.
      class Redirection
        # @raise [ConfigurationError] if the target contains variables that the path lacks, or is a URL with variables
        def initialize(path, to, status)
          @to = to
          @status = status
          unless (300..399).cover?(status) && to.is_a?(String) &&
              to.match?(%r{\A(?:/(?!/)|https?://[^:*(]+(?::\d+)?(?:/[^:*(]*)?\z)})
            raise ConfigurationError, "redirect #{path}, to: #{to.inspect}, status: #{status}: give a path or a " \
              "whole URL without variables, and a status from 300 to 399"
          end
          @target = PathWriter.new(Pattern.new(to)) if to.start_with?("/")
          missing = @target ? @target.names - Pattern.new(path).names : []
          if missing.any?
            raise ConfigurationError, "redirect #{path}: it has no variable #{missing.join(", ")}, which #{to} contains"
          end
        end

        # @return [Array, nil] Rack's response; nil if the variables give no valid path
        def call(env, captures)
          location = @target ? env["SCRIPT_NAME"].to_s + @target.write(captures.transform_keys(&:to_sym)) : @to
          query = env["QUERY_STRING"].to_s
          location += "?#{query}" unless query.empty? || location.include?("?")
          [@status, {"location" => location}, []]
        rescue ArgumentError
          nil
        end
      end
    end
  end
end
