# frozen_string_literal: true

require "pelton"
require "sequel"
require_relative "database/error"
require_relative "database/limit"
require_relative "database/connect"
require_relative "database/text"
require_relative "database/turns"

module Pelton
  # Extensions, plugins and an adapter for Sequel that do not block Pelton's loop. Each works alone:
  #
  #     DB = Sequel.connect(adapter: :pelton_sqlite, database: "app.db")
  #     DB.extension(:pelton_pool, :pelton_statistics)
  #     Album.plugin(:pelton_merging)
  #
  # {Database.connect} returns a database with all of the extensions.
  module Database
  end
end
