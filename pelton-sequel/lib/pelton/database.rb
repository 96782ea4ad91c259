# frozen_string_literal: true

require "pelton"
require "sequel"
require_relative "database/error"
require_relative "database/limit"
require_relative "database/connect"
require_relative "database/text"
require_relative "database/turns"

module Pelton
  # Sequel beside the loop: what a program with Sequel takes by a line each, as its extensions, plugins and adapter.
  #
  #     DB = Sequel.connect(adapter: :pelton_sqlite, database: "app.db")
  #     DB.extension(:pelton_pool, :pelton_statistics)
  #     Album.plugin(:pelton_merging)
  #
  # {Database.connect} returns a database that has all of it.
  module Database
  end
end
