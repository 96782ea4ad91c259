# frozen_string_literal: true

require "active_record"

module Pelton
  module ActiveRecord
    # Raises the error of a time limit that passes during a query unwrapped, as the adapter `postgresql` does: wrapped
    # into ActiveRecord::StatementInvalid it would be a failure of the application (500) instead of a limit (504).
    module TimeLimits
      def self.install = ::ActiveRecord::ConnectionAdapters::AbstractAdapter.prepend(self)

      private

      def translate_exception(exception, ...) = exception.is_a?(TimeoutError) ? exception : super
    end
  end
end
