# frozen_string_literal: true

require "set"
require_relative "tags"

module Pelton
  module Web
    module Helpers
      # A `<select>` and its options.
      #
      # A choice is a text; a text and its value, also as a pair of a Hash; or a text, its value, and a Hash of
      # attributes. A text with a list of choices is a group.
      #
      #     options_for_select(["red", ["Green", 2], ["Blue", 3, {data: {hex: "00f"}}]], 2)
      #     options_for_select({"Warm" => ["red", "orange"], "Cold" => {"Blue" => 3}})
      module Options
        # The options of a list.
        # @private
        class List
          def initialize(view, selected, disabled)
            @view = view
            @selected, @disabled = [selected, disabled].map { |values| Options._texts(values) }
          end

          def of(choices) = @view.safe_join(choices.map { |choice| option(choice) })

          private

          def option(choice)
            text, value, attributes = choice.respond_to?(:to_ary) ? choice : [choice, choice]
            return @view.tag(:optgroup, of(value), label: text) if value.respond_to?(:to_ary) || value.is_a?(Hash)
            value = value.to_s
            @view.tag(:option, text, value: value, selected: @selected.include?(value),
              disabled: @disabled.include?(value), **attributes.to_h)
          end
        end
        private_constant :List

        class << self
          def _texts(values) = (values.is_a?(Set) || values.respond_to?(:to_ary)) ? values.map(&:to_s) : [values.to_s]

          # Reads an object's text or value.
          def _read(object, what) = what.respond_to?(:call) ? what.call(object) : object.public_send(what)

          # `post[tags][]` as "post_tags".
          def _id(name) = HTML.text(name).gsub(/[^\p{Word}-]+/, "_").delete_suffix("_")

          # Sent with a list, so that choosing nothing arrives as well.
          def _nothing(view, name) = view.tag(:input, type: "hidden", name: name, value: "", autocomplete: "off")
        end

        # @param choices [Array, Hash, HTML] {HTML} is returned as it is
        # @param selected [Object, Array] the chosen value or values, compared as text
        # @param disabled [Object, Array] values that cannot be chosen
        def options_for_select(choices, selected = nil, disabled: [])
          choices.is_a?(HTML) ? choices : List.new(self, selected, disabled).of(choices)
        end

        # @param collection [Enumerable]
        # @param value [Symbol, #call] returns the value to send
        # @param text [Symbol, #call] returns the text to show
        def options_from_collection_for_select(collection, value, text, selected = nil, disabled: [])
          options_for_select(collection.map { |one| [Options._read(one, text), Options._read(one, value).to_s] },
            selected, disabled: disabled)
        end

        # A `<select>` without a form's model.
        #
        # @param choices [Array, Hash, HTML] see {Options}
        # @param selected [Object, Array] the chosen value
        # @param include_blank [Boolean, String] an empty first choice, and its text
        # @param prompt [Boolean, String, nil] like include_blank, but only while nothing is chosen
        # @param multiple [Boolean] whether several can be chosen: the name then ends in `[]`, and an empty element is
        #   sent as well, so that choosing none arrives; `params.array` drops it
        # @param disabled [Boolean, Object, Array] true for the whole list, otherwise values that cannot be chosen
        def select_tag(name, choices, selected: nil, include_blank: false, prompt: nil, multiple: false, disabled: [],
          **attributes)
          closed = disabled == true
          options = [options_for_select(choices, (multiple && selected.nil?) ? [] : selected,
            disabled: closed ? [] : disabled)]
          options.unshift(tag(:option, (include_blank == true) ? "" : include_blank, value: "")) if include_blank
          if prompt && Options._texts(selected).all?("")
            options.unshift(tag(:option, (prompt == true) ? "Please select" : prompt, value: ""))
          end
          name = HTML.text(name)
          name = "#{name}[]" if multiple && !name.end_with?("[]")
          field = tag(:select, safe_join(options), name: name, id: Options._id(name), multiple: multiple,
            disabled: closed, **attributes)
          (multiple && !closed) ? Options._nothing(self, name) + field : field
        end
      end
    end
  end
end
