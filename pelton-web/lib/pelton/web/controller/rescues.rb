# frozen_string_literal: true

module Pelton
  module Web
    class Controller
      # `rescue_from`: how errors of actions and filters are answered. A subclass has its parent's; of those that fit, the last declared
      # is taken. What the action has answered before is dropped.
      module Rescues
        # @return [Array<Array(Class, Symbol)>] errors and the methods that answer them, the last declared first
        def rescues = @rescues ||= (self == Controller) ? [] : superclass.rescues.dup

        # @param errors [Array<Class>] kinds of StandardError
        # @param with [Symbol, nil] the method that answers; without it the block does. Either gets the error if it takes an argument
        # @raise [ConfigurationError] there is nothing to rescue, or nothing that answers
        def rescue_from(*errors, with: nil, &block)
          raise ConfigurationError, "rescue_from: name kinds of StandardError" if errors.empty? || !errors.all? { |error| error.is_a?(Module) && !(error.is_a?(Class) && !(error <= StandardError)) }
          with ||= hidden_method("rescue", block || raise(ConfigurationError, "rescue_from: give a block or with:"))
          errors.each { |error| rescues.unshift([error, with]) }
          nil
        end

        # The part of a controller's objects.
        module Answers
          private

          # Answers an error by the controller's `rescue_from`, otherwise by its {Problem}, if it has one.
          #
          # @raise [StandardError] the error, if there is no answer to it
          def answer_error(error)
            with = self.class.rescues.find { |type, _| error.is_a?(type) }&.last
            problem = Problem.of(error, settings) unless with
            raise error unless with || problem
            discard
            with ? __send__(with, *[error].first(method(with).arity.abs)) : answer_problem(problem)
            raise error unless response.answered?
          end

          def discard
            response.body.close if response.body.respond_to?(:close)
            @response = Response.new
          end
        end
      end
    end
  end
end
