# frozen_string_literal: true

module Pelton
  module Web
    class Controller
      # Filters: methods or blocks that run before, after and around actions. Subclasses inherit them, and run their
      # parent's first.
      #
      # A before filter that responds halts: no other filter and no action runs. After filters run if the action ends
      # without an error, last declared first, inside the around filters; they may change the response's headers, but
      # not respond. An around filter runs the rest by `yield`; one that does not yield must respond.
      module Filters
        # `only` and `except` are actions; `conditions` are methods and the values they must return.
        Filter = Struct.new(:kind, :name, :only, :except, :conditions) do
          def for?(action) = (only.empty? || only.include?(action)) && !except.include?(action)

          # @return [Boolean, nil] false if it is skipped for all actions
          def skip(actions)
            self.except |= actions
            actions.any?
          end
        end

        # @return [Array<Filter>] in the order they run
        def filters = @filters ||= (self == Controller) ? [] : superclass.filters.map(&:dup)

        # @!method before_action(*names, only: nil, except: nil, if: nil, unless: nil, &block)
        #   Runs methods, or the block, before the actions. A filter that was declared before moves to the end.
        #   @param names [Array<Symbol>]
        #   @param only [Symbol, Array<Symbol>, nil] the actions before which it runs
        #   @param except [Symbol, Array<Symbol>, nil] those before which it does not run
        #   @param if [Symbol, Proc, Array, nil] a method or block; the filter runs only if it returns neither nil nor
        #     false
        #   @param unless [Symbol, Proc, Array, nil] the opposite
        #   @return [nil]
        #   @raise [ConfigurationError] if the application boots: `only:` or `except:` names no action of this
        #     controller

        # @!method after_action(*names, only: nil, except: nil, if: nil, unless: nil, &block)
        #   As {#before_action}, but after the actions.
        #   @return [nil]

        # @!method around_action(*names, only: nil, except: nil, if: nil, unless: nil, &block)
        #   As {#before_action}, but around the actions: a method runs them by `yield`, a block gets the controller and
        #   a Proc that runs them.
        #   @return [nil]

        # @!method skip_before_action(*names, only: nil)
        #   Takes filters of the parent away, or runs them not for these actions.
        #   @return [nil]
        #   @raise [ConfigurationError] if there is no such filter
        %i[before after around].each do |kind|
          define_method(:"#{kind}_action") { |*names, **options, &block| add_filters(kind, names, block, **options) }
          define_method(:"skip_#{kind}_action") { |*names, only: nil| skip_filters(kind, names, Array(only)) }
        end

        # @private The code of an action with its filters.
        def filtered(action, code)
          wanted = filters.select { |filter| filter.for?(action) }
          before, after = wanted.partition { |filter| filter.kind != :after }
          after = after.reverse.map { |filter| "#{filter.name}#{condition(filter)&.prepend(" if ")}" }
          before.reverse.inject([code, *after].join("\n")) { |inner, filter| around(filter, inner) }
        end

        # @private
        # @raise [ConfigurationError] if a filter of this class names an unknown action
        def check_filters
          inherited = (self == Controller) ? [] : superclass.filters
          filters.reject do |filter|
            inherited.any? { |other| other.kind == filter.kind && other.name == filter.name }
          end.each do |filter|
            unknown = (filter.only | filter.except) - action_methods
            if unknown.any?
              raise ConfigurationError,
                "#{self}: the #{filter.kind}_action #{filter.name} names no action: #{unknown.join(", ")}"
            end
          end
        end

        private

        def add_filters(kind, names, block, only: nil, except: nil, if: nil, unless: nil)
          names |= [hidden_method("filter", (kind == :around) ? in_block(block) : block)] if block
          raise ConfigurationError, "#{kind}_action: name a method, or give a block" if names.empty?
          yes, no = binding.local_variable_get(:if), binding.local_variable_get(:unless)
          conditions = [[yes, true], [no, false]].flat_map do |list, wanted|
            Array(list).map { |one| [one.is_a?(Proc) ? hidden_method("condition", one) : one, wanted] }
          end
          names.each do |name|
            filters.reject! { |filter| filter.kind == kind && filter.name == name }
            filters << Filter.new(kind, name, Array(only), Array(except), conditions)
          end
          nil
        end

        def skip_filters(kind, names, actions)
          names.each do |name|
            filter = filters.find { |one| one.kind == kind && one.name == name } || raise(ConfigurationError,
              "#{self}: there is no #{kind}_action #{name} to skip")
            filter.skip(actions) || filters.delete(filter)
          end
          nil
        end

        # A block of around_action gets a Proc for what `yield` would run.
        def in_block(block) = ->(&inner) { instance_exec(self, inner, &block) }

        # Makes a block a private method that compiled actions can call.
        def hidden_method(purpose, block)
          name = :"_#{purpose}_#{@hidden = (@hidden || 0) + 1}_of_#{object_id}"
          define_method(name, &block)
          private name
          name
        end

        def around(filter, inner)
          condition = condition(filter)
          if filter.kind == :before
            return "#{filter.name}#{condition&.prepend(" if ")}\nunless @response&.answered?\n" \
              "#{inner.gsub(/^/, "  ")}\nend"
          end
          return "#{filter.name} do\n#{inner.gsub(/^/, "  ")}\nend" unless condition
          "rest = proc do\n#{inner.gsub(/^/, "  ")}\nend\n#{condition} ? #{filter.name}(&rest) : rest.call"
        end

        def condition(filter)
          filter.conditions.map { |name, wanted| "#{"!" unless wanted}#{name}" }.join(" && ").then do |code|
            "(#{code})" unless code.empty?
          end
        end
      end
    end
  end
end
