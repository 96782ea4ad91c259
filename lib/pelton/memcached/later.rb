# frozen_string_literal: true

module Pelton
  module Memcached
    # A client's commands, each returning its Deferrable: {Client#later}.
    class Later
      # @return [Operation] the result of {Client#fetch} in a task
      def fetch(...) = Deferrable.defer(nil) { @client.fetch(...) }

      # @return [Operation] the result of {Client#cas} in a task
      def cas(...) = Deferrable.defer(nil) { @client.cas(...) }
    end
  end
end
