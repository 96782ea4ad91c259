# frozen_string_literal: true

require "pelton"
require "sequel"
require_relative "sequel/error"
require_relative "sequel/limit"
require_relative "sequel/connect"
require_relative "sequel/text"
require_relative "sequel/turns"

module Pelton
  # Extensions, plugins and an adapter for Sequel that do not block Pelton's loop. Each works alone:
  #
  #     DB = Sequel.connect(adapter: :pelton_sqlite, database: "app.db")
  #     DB.extension(:pelton_pool, :pelton_statistics)
  #     Album.plugin(:pelton_merging)
  #
  # {Pelton::Sequel.connect} returns a database with all of the extensions.
  module Sequel
  end
end
