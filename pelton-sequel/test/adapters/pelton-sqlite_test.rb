# frozen_string_literal: true

require_relative "../support/sequel_databases"

# The adapter's name in an address, whose scheme has no underscore.
class PeltonSqliteAddressTest < PeltonTest
  include SequelDatabases

  def test_an_address
    Dir.mktmpdir do |folder|
      addresses = ["pelton-sqlite://#{folder}/a.db", "pelton-sqlite:#{folder}/a.db",
        "pelton-sqlite://#{folder}/a.db?synchronous=full"]
      addresses.each do |address|
        assert_equal "#{folder}/a.db",
          Sequel.connect(address, keep_reference: false).tap(&:test_connection).opts[:database]
      end

      assert_equal 2, Sequel.connect(addresses.last, keep_reference: false).fetch("PRAGMA synchronous").single_value
      assert_equal "#{folder}/a.db", connect(addresses.first).opts[:database]
    end
    ["pelton-sqlite:/", "pelton-sqlite::memory:"].each do |address|
      assert_equal ":memory:", Sequel.connect(address, keep_reference: false).opts[:database]
    end
    assert_equal "app.db", Sequel.connect("pelton-sqlite://app.db", keep_reference: false, test: false).opts[:database]
  end
end
