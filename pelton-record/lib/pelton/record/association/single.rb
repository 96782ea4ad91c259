# frozen_string_literal: true

module Pelton
  module Record
    module Association
      # belongs_to and has_one: build_, create_, reload_, and the saving of new objects.
      module Single
        class << self
          # @private
          def define_parent(model, name)
            define_builders(model, name)
            reflection = model.association_reflection(name)
            model.send(:overridable_methods_module).define_method(name) { |*| load_parent(reflection) } if reflection[:polymorphic]
            model.prepend(parent_writer(name, reflection))
          end

          # @private
          def define_child(model, name) = define_builders(model, name)

          private

          def parent_writer(name, reflection)
            Module.new do
              define_method(:"#{name}=") do |other|
                wanted = reflection[:polymorphic] ? Model : reflection.associated_class
                raise ArgumentError, "#{self.class}.#{name} is an object of #{wanted}, not #{other.inspect}" unless other.nil? || other.is_a?(wanted)
                other&.new? ? set_new_parent(reflection, other) : super(other)
              end
            end
          end

          def define_builders(model, name)
            model.send(:overridable_methods_module).module_eval do
              define_method(:"build_#{name}") { |attributes = Sequel::OPTS| build_associated(name, attributes) }
              define_method(:"create_#{name}") { |attributes = Sequel::OPTS| create_associated(name, attributes, :save) }
              define_method(:"create_#{name}!") { |attributes = Sequel::OPTS| create_associated(name, attributes, :save!) }
              define_method(:"reload_#{name}") { associations.delete(name) && nil || public_send(name) }
            end
          end
        end
      end
    end
  end
end
