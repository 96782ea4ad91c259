# frozen_string_literal: true

module Pelton
  module Cable
    # Who a client is, in a form that all processes have in common: the text of each identifier of its {Connection}.
    # @private
    module Identity
      # Methods that name a model of GlobalID, of Sequel, and any other.
      NAMES = %i[to_gid_param pk id].freeze
      private_constant :NAMES

      class << self
        # @param values [Hash{Symbol => Object}] of identifiers
        # @return [Hash{String => String, nil}]
        # @raise [ArgumentError] a value has no text
        def texts(values) = values.to_h { |name, value| [name.name, text(value)] }

        # @param connection [Connection]
        # @return [String, nil] the same for two connections of one client; nil: one of its identifiers has no text
        def of(connection)
          JSON.generate(texts(connection.class.identifiers.to_h { |name| [name, connection.public_send(name)] }))
        rescue ArgumentError
          nil
        end

        # @param texts [Hash{String => String, nil}]
        # @param connection [Connection]
        def match?(texts, connection)
          names = connection.class.identifiers.to_h { |name| [name.name, name] }
          texts.all? { |name, text| names.key?(name) && text?(connection.public_send(names[name]), text) }
        end

        private

        def text?(value, expected)
          text(value) == expected
        rescue ArgumentError
          false
        end

        def text(value)
          if value.nil? || [String, Symbol, Numeric, TrueClass, FalseClass].any? { |type| value.is_a?(type) }
            return value&.to_s
          end
          name = NAMES.find { |one| value.respond_to?(one) }
          return "#{value.class.name}:#{value.public_send(name)}" if name
          if value.method(:to_s).owner == Kernel
            raise ArgumentError, "identify a client by a text, a number, or what has an id, not by #{value.class.name}"
          end
          value.to_s
        end
      end
    end
  end
end
