# frozen_string_literal: true

module Pelton
  module Record
    # Connects models to a database.
    #
    # @asynchronous
    # @param address [String] of the database, as Sequel takes it: "sqlite://app.db", "postgres://user@host/name", "trilogy://user@host/name"
    # @param options [Hash] Sequel's options of Sequel.connect
    # @return [Sequel::Database]
    def self.connect(address, **options)
      self.database = Sequel.connect(address.sub(/\Asqlite:/, "extralite:"), **options)
    end
  end
end
