# frozen_string_literal: true

require_relative "../driver"
require_relative "indexes"

module Pelton
  module Sequel
    # SQLite by the gem extralite.
    # @private
    class SQLiteDriver < Driver
      INHERITED = [] # a child must neither use, close nor collect its parent's connections
      private_constant :INHERITED

      # @return [Hash] Sequel's options
      def options
        Driver.need("extralite-bundle", "extralite")
        {adapter: :pelton_sqlite}
      end

      def prepare(database) = database.extend(Indexes)

      # An interrupted statement has ended.
      def unusable_after_interruption? = false

      # (see Driver#connection_error)
      def connection_error(error)
        return ConfigurationError.new("#{name}: #{error.message}") if error.instance_of?(::Sequel::Error) # of an option
        file = database.opts[:database].to_s
        folder = File.dirname(file)
        return super if file.start_with?(":") || File.directory?(folder)
        ConfigurationError.new("#{name}: there is no folder #{folder}: create it")
      end

      def forget(connections) = INHERITED.concat(connections)

      private

      def lookup_class = SQLite::Lookup
    end
  end
end
