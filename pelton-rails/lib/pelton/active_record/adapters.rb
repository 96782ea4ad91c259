# frozen_string_literal: true

module Pelton
  module ActiveRecord
    # The database adapters that block the process, and what to do about it.
    ADAPTERS = {
      "mysql2" => "the database adapter mysql2 blocks the process while it connects, reads a result or runs a " \
        "prepared statement: take trilogy (gem \"trilogy\", adapter: trilogy)",
      "sqlite3" => "the database adapter sqlite3 blocks the process while a statement runs: keep statements short, " \
        "and run more workers"
    }.freeze
  end
end
