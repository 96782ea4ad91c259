# frozen_string_literal: true

require "active_support"
require "pelton/resumable_stream"

module Pelton
  module Rails
    # Texts that a job writes piece by piece, and that pages follow ({Pelton::ResumableStream}), in a column of a model:
    #
    # - `resumable_stream :content` in a model ({Model}), `t.resumable_stream :content` in a migration ({Columns});
    # - `follow_stream @message, :content` in a controller ({Controller}), or a channel of Action Cable ({Following});
    # - `<%= resumable_stream_tag @message, :content %>` in a view ({Helper}).
    module ResumableStreams
      autoload :Channel, "pelton/rails/resumable_streams/channel"
      autoload :Columns, "pelton/rails/resumable_streams/columns"
      autoload :Controller, "pelton/rails/resumable_streams/controller"
      autoload :Following, "pelton/rails/resumable_streams/following"
      autoload :Helper, "pelton/rails/resumable_streams/helper"
      autoload :Model, "pelton/rails/resumable_streams/model"

      # @private
      def self.install
        ActiveSupport.on_load(:active_record) do
          extend Model
          ::ActiveRecord::ConnectionAdapters::TableDefinition.include(Columns)
          ::ActiveRecord::ConnectionAdapters::Table.include(Columns)
        end
        ActiveSupport.on_load(:action_controller_base) { include Controller }
        ActiveSupport.on_load(:action_cable_channel) { include Following }
        ActiveSupport.on_load(:action_view) { include Helper }
      end

      class << self
        # @param record [ActiveRecord::Base]
        # @param column [Symbol]
        # @return [String] the id of the element in the page that shows the text
        def target(record, column) = "#{record.model_name.param_key}_#{record.to_key.join("_")}_#{column}"

        # @return [Pelton::ResumableStream::TurboElements]
        def elements(record, column, &changed)
          Pelton::ResumableStream::TurboElements.new(target(record, column), &changed)
        end
      end
    end
  end
end
