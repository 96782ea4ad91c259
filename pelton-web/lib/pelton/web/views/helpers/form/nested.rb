# frozen_string_literal: true

module Pelton
  module Web
    module Helpers
      class Form
        # Fields of associated objects.
        module Nested
          MISSING = Object.new.freeze
          private_constant :MISSING

          # Fields of an associated object, or of each object in a list.
          #
          #     <%= form.fields_for :lines do |line| %>
          #       <%= line.text_field :article %> <%= line.check_box :_destroy %>
          #     <% end %>
          #
          # They are sent as `order[lines_attributes][0][article]` if the model has `lines_attributes=`, otherwise as
          # `order[lines][0][article]`. A stored object's id is sent in a hidden field.
          #
          # @param name [Symbol] the association or group
          # @param objects [Object, Array, nil] by default the model's association
          # @param index [Object, nil] replaces the number, for a row that a script copies
          # @yieldparam form [Form]
          # @asynchronous if the association is read
          def fields_for(name, objects = MISSING, index: nil, &block)
            objects = @model.respond_to?(name) ? @model.public_send(name) : nil if MISSING.equal?(objects)
            group = nested_name(name)
            if objects.respond_to?(:to_ary)
              @view.safe_join(objects.map { |object| numbered(group, index, object, &block) })
            else
              (index || many?(name)) ? numbered(group, index, objects, &block) : nested(group, objects, &block)
            end
          end

          private

          def nested_name(name)
            name = "#{name}_attributes" if @model.respond_to?(:"#{name}_attributes=")
            @scope ? "#{@scope}[#{name}]" : name.to_s
          end

          # Whether the objects are in a list, and therefore numbered.
          def many?(name) = @model.respond_to?(name) && @model.public_send(name).respond_to?(:to_ary)

          # Several calls continue one list.
          def numbered(group, index, object, &block)
            @following ||= Hash.new(-1)
            nested("#{group}[#{index || @following[group] += 1}]", object, &block)
          end

          def nested(scope, object, &block)
            form = Form.new(@view, object, scope)
            id = form.hidden_field(:id) if Form._stored?(object) && object.respond_to?(:id)
            @view.safe_join([id, @view.capture(form, &block)].compact)
          end
        end
      end
    end
  end
end
