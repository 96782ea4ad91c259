# frozen_string_literal: true

require "active_support"
require "pelton/resumable_stream"

module Pelton
  module Rails
    # Texts that a job writes piece by piece, and that pages follow ({Pelton::ResumableStream}), in a column of a model:
    #
    # - `resumable_stream :content` in a model ({Model}), `t.resumable_stream :content` in a migration ({Columns});
    # - `follow_stream @message, :content` in a controller ({Controller});
    # - `<%= resumable_stream_tag @message, :content, src: ... %>` in a view ({Helper}).
    module ResumableStreams
      autoload :Columns, "pelton/rails/resumable_streams/columns"
      autoload :Controller, "pelton/rails/resumable_streams/controller"
      autoload :Helper, "pelton/rails/resumable_streams/helper"
      autoload :Model, "pelton/rails/resumable_streams/model"

      def self.install
        ActiveSupport.on_load(:active_record) do
          extend Model
          ::ActiveRecord::ConnectionAdapters::TableDefinition.include(Columns)
          ::ActiveRecord::ConnectionAdapters::Table.include(Columns)
        end
        ActiveSupport.on_load(:action_controller_base) { include Controller }
        ActiveSupport.on_load(:action_view) { include Helper }
      end

      # @param record [ActiveRecord::Base]
      # @param column [Symbol]
      # @return [String] the id of the element in the page that shows the text
      def self.target(record, column) = "#{record.model_name.param_key}_#{record.to_key.join("_")}_#{column}"
    end
  end
end
