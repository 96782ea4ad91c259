# frozen_string_literal: true

require_relative "../options"

module Pelton
  module Web
    module Helpers
      class Form
        # Fields with choices: boxes, buttons and lists.
        module Choices
          # A box or button, yielded by {#collection_check_boxes} and {#collection_radio_buttons}.
          class Choice
            # @return [Object] the element of the collection
            attr_reader :object
            # @return [Object] the value to send
            attr_reader :value
            # @return [String] the text to show
            attr_reader :text

            # @private
            def initialize(view, object, value, text, type, attributes)
              @view = view
              @object = object
              @value = value
              @text = text
              @type = type
              @attributes = attributes
            end

            # @return [HTML] the box or button itself
            def input(**attributes) = @view.tag(:input, type: @type, **@attributes, **attributes)
            alias_method :check_box, :input
            alias_method :radio_button, :input

            # @param text [String] without it, the choice's
            # @param attributes [Hash] attributes of the element
            # @return [HTML]
            def label(text = self.text, **attributes, &block)
              @view.tag(:label, text, for: @attributes[:id], **attributes, &block)
            end
          end

          # Sends "1" or "0".
          def check_box(name, **attributes)
            checked = ![nil, false, 0, "0", ""].include?(value(name))
            hidden = @view.tag(:input, type: "hidden", name: named(name)[:name], value: "0", autocomplete: "off")
            hidden + input("checkbox", name, value: "1", checked: checked, **attributes)
          end

          # @param name [Symbol]
          # @param choice [Object] the button's value; the button is chosen if the model's value is the same
          # @param attributes [Hash] attributes of the element
          # @return [HTML]
          def radio_button(name, choice, **attributes)
            input("radio", name, value: choice.to_s, checked: value(name).to_s == choice.to_s, **attributes,
              id: id_of_choice(name, choice))
          end

          # A list with one choice, or with `multiple: true` several.
          #
          #     form.select :color, ["red", ["Green", 2]], prompt: "Choose a color"
          #     form.select :city, {"France" => ["Lyon"], "Italy" => ["Bari", "Como"]}
          #
          # @param choices [Array, Hash, HTML] see {Options}
          # @param options [Hash] see {Options#select_tag}; `selected:` is the model's value by default
          def select(name, choices, selected: value(name), multiple: false, **options)
            names = named(name)
            names[:name] = "#{names[:name]}[]" if multiple
            @view.select_tag(names[:name], choices, selected: selected, multiple: multiple, id: names[:id], **options)
          end

          # A list of objects.
          #
          #     form.collection_select :author_id, Author.order(:name), :id, :name, include_blank: "nobody"
          #
          # @param value [Symbol, #call] returns the value to send
          # @param text [Symbol, #call] returns the text to show
          # @asynchronous if the collection is read
          def collection_select(name, collection, value, text, **options)
            select(name, collection.map { |one| pair(one, value, text) }, **options)
          end

          # A list of objects in groups.
          #
          #     form.grouped_collection_select :city_id, Country.order(:name), :cities, :name, :id, :name
          #
          # @param members [Symbol, #call] returns a group's objects
          # @param label [Symbol, #call] returns a group's text
          # @asynchronous if a collection is read
          def grouped_collection_select(name, groups, members, label, value, text, **options)
            select(name,
              groups.map do |group|
                [Options._read(group, label), Options._read(group, members).map { |one| pair(one, value, text) }]
              end,
              **options)
          end

          # A box for each object. Sends the list of chosen values, even if it is empty.
          #
          #     form.collection_check_boxes :tag_ids, Tag.order(:name), :id, :name
          #     form.collection_check_boxes(:tag_ids, tags, :id, :name) { |box| box.label { box.input + box.text } }
          #
          # @param selected [Array] values; by default the model's
          # @yieldparam choice [Choice]
          # @asynchronous if the collection is read
          def collection_check_boxes(name, collection, value, text, selected: value(name) || [], **attributes, &block)
            list = "#{named(name)[:name]}[]"
            Options._nothing(@view,
              list) + buttons("checkbox", name, list, collection, value, text, selected, attributes, block)
          end

          # A button for each object, of which one can be chosen.
          #
          # @param selected [Object] a value; by default the model's
          # @yieldparam choice [Choice]
          # @asynchronous if the collection is read
          def collection_radio_buttons(name, collection, value, text, selected: value(name), **attributes, &block)
            buttons("radio", name, named(name)[:name], collection, value, text, selected, attributes, block)
          end

          private

          def pair(object, value, text) = [Options._read(object, text), Options._read(object, value).to_s]

          def buttons(type, name, sent, collection, value, text, selected, attributes, block)
            chosen = Options._texts(selected)
            @view.safe_join(collection.map do |object|
              text_of_it, value_of_it = pair(object, value, text)
              its = {name: sent, id: id_of_choice(name, value_of_it), value: value_of_it,
                     checked: chosen.include?(value_of_it), **attributes}
              choice = Choice.new(@view, object, value_of_it, text_of_it, type, its)
              block ? @view.capture(choice, &block) : choice.input + choice.label
            end)
          end

          def id_of_choice(name, choice) = Options._id("#{named(name)[:id]}_#{choice}")
        end
      end
    end
  end
end
