# frozen_string_literal: true

module Pelton
  module Record
    # The parent of all models: Sequel's model, with ActiveRecord's names. (Sequel asks for the table of a class that has a name.)
    Model = Class.new(Sequel::Model)

    class Model
      # @return [Sequel::Database] the one that {Record.connect} connected last, if the model has none of its own
      def self.db = @db || Record.database || super
    end
  end
end
