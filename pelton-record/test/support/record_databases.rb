# frozen_string_literal: true

require "test_helper"
require_relative "../../../pelton-sequel/test/support/sequel_databases"
require "pelton/record"

# Databases of Record for tests.
module RecordDatabases
  include SequelDatabases

  def teardown
    Pelton::Record.disconnect
    super
  end

  # Connects as a program does, in the place of what was connected before, and disconnects when the test is over.
  def connect(address = "sqlite::memory:", **options)
    Pelton::Record.disconnect unless options[:name]
    Pelton::Record.connect(address, **options)
  end
end
