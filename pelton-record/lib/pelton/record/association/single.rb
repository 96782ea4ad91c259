# frozen_string_literal: true

module Pelton
  module Record
    module Association
      # belongs_to and has_one: build_, create_, reload_, and saving new objects.
      module Single
        class << self
          # @private
          def define_parent(model, name)
            define_builders(model, name)
            reflection = model.association_reflection(name)
            model.send(:overridable_methods_module).define_method(name) { |*| load_parent(reflection) } if reflection[:polymorphic]
            model.prepend(parent_writer(name, reflection))
            keys = [*reflection[:key], *reflection[:polymorphic]]
            model.send(:overridable_methods_module).module_eval do
              define_method(:"#{name}_changed?") { keys.any? { |key| attribute_changed?(key) } || (@new_parents&.key?(name) || false) }
            end
          end

          # @private
          def define_child(model, name)
            define_builders(model, name)
            reflection = model.association_reflection(name)
            model.prepend(Module.new do
              define_method(:"#{name}=") do |other|
                Single.check(self, reflection, other)
                next set_new_child(reflection, other) if other && new?
                next super(other) if new?
                db.transaction do
                  remove_replaced(reflection, other)
                  super(other)
                end
              end
            end)
          end

          # @private
          def check(record, reflection, other)
            wanted = reflection[:polymorphic] ? Model : reflection.associated_class
            raise ArgumentError, "#{record.class}.#{reflection[:name]} is an object of #{wanted}, not #{other.inspect}" unless other.nil? || other.is_a?(wanted)
          end

          # @private
          def define_reloading(model, name)
            model.send(:overridable_methods_module).module_eval do
              define_method(:"reset_#{name}") { associations.delete(name) && nil }
              define_method(:"reload_#{name}") { public_send(:"reset_#{name}") || public_send(name) }
            end
          end

          private

          def parent_writer(name, reflection)
            Module.new do
              define_method(:"#{name}=") do |other|
                Single.check(self, reflection, other)
                other&.new? ? set_new_parent(reflection, other) : super(other)
              end
            end
          end

          def define_builders(model, name)
            model.send(:overridable_methods_module).module_eval do
              define_method(:"build_#{name}") { |attributes = ::Sequel::OPTS| build_associated(name, attributes) }
              define_method(:"create_#{name}") { |attributes = ::Sequel::OPTS| create_associated(name, attributes, :save) }
              define_method(:"create_#{name}!") { |attributes = ::Sequel::OPTS| create_associated(name, attributes, :save!) }
            end
            define_reloading(model, name)
          end
        end
      end
    end
  end
end
