# frozen_string_literal: true

module Pelton
  module Rails
    class Cable
      # The connection's identifiers as methods of its channels. Rails gives each channel a singleton class with them,
      # which costs some KB, and time at each call; here all channels have them in common.
      module Identifiers
        private

        # A channel's class may have a method of the same name: Rails' has precedence, and does here.
        def delegate_connection_identifiers
          return super unless connection.try(:pelton_client)
          connection.identifiers.each do |identifier|
            unless Identifiers.method_defined?(identifier, false)
              Identifiers.define_method(identifier) { connection.send(identifier) }
            end
            unless self.class.instance_method(identifier).owner == Identifiers
              define_singleton_method(identifier) { connection.send(identifier) }
            end
          end
        end
      end
    end
  end
end
