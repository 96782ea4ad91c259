# frozen_string_literal: true

module Pelton
  module Web
    class Controller
      # `rescue_from`: how to respond to errors of actions and filters. Subclasses inherit handlers; of those that
      # match, the last declared is called. A response that the action had given before is dropped.
      module Rescues
        # @return [Array<Array(Class, Symbol)>] errors and the methods that handle them, last declared first
        def rescues = @rescues ||= (self == Controller) ? [] : superclass.rescues.dup

        # @param errors [Array<Class>] subclasses of StandardError
        # @param with [Symbol, nil] the handler method; by default the block. Either gets the error if it takes an
        #   argument
        # @raise [ConfigurationError] if there is no error class or no handler
        def rescue_from(*errors, with: nil, &block)
          if errors.empty? ||
              !errors.all? { |error| error.is_a?(Module) && !(error.is_a?(Class) && !(error <= StandardError)) }
            raise ConfigurationError, "rescue_from: name kinds of StandardError"
          end
          with ||= hidden_method("rescue", block || raise(ConfigurationError, "rescue_from: give a block or with:"))
          errors.each { |error| rescues.unshift([error, with]) }
          nil
        end

        # Included in controllers.
        module Answers
          private

          # Responds to an error by `rescue_from`, or by its {Problem} if it has one.
          #
          # @raise [StandardError] if the error, if neither applies
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
