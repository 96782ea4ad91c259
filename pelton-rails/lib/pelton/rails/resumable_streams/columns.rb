# frozen_string_literal: true

module Pelton
  module Rails
    module ResumableStreams
      # The columns of a text, in a migration:
      #
      #     create_table :messages do |t|
      #       t.resumable_stream :content
      module Columns
        # @param name [Symbol] of the column with the text; the others have its name as their prefix
        # @param limit [Integer] bytes of the text
        def resumable_stream(name, limit: 1 << 20)
          # Only there has a text another limit
          text name, limit: (limit if @conn.try(:adapter_name).to_s.match?(/mysql|trilogy/i))
          integer :"#{name}_run", null: false, default: 0
          string :"#{name}_state", null: false, default: "waiting", limit: 20
          string :"#{name}_error"
          datetime :"#{name}_alive_at", precision: 6
        end
      end
    end
  end
end
