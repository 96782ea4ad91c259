# frozen_string_literal: true

module Pelton
  module Record
    class Relation
      # Methods that one query has, and those that are made of it.
      module Extending
        # @example posts.extending(Pages).page(3), posts.extending { def page(number) = limit(20).offset(20 * number) }
        # @param modules [Array<Module>]
        # @yield in a new module
        # @return [Relation]
        def extending(*modules, &block)
          modules = [*modules.flatten, *(Module.new(&block) if block)]
          modules.empty? ? self : derived(dataset).extended_by([*@extensions, *modules])
        end

        # @private
        # @return [self]
        def extended_by(modules)
          @extensions = modules
          extend(*modules)
        end
      end
    end
  end
end
