# frozen_string_literal: true

require "pg"
require "trilogy"
require_relative "../support/sequel_databases"
require "pelton/sequel/command"

class SequelMigrationsOnServersTest < PeltonTest
  include SequelDatabases

  def test_a_failed_migration_on_postgresql_leaves_nothing
    error = failed(postgres_address)

    assert_match(/Nothing of it is left: it ran in a transaction. Mend the file and run pelton db migrate again/, error)
    refute connect(postgres_address).table_exists?(:half)
  end

  def test_a_failed_migration_on_mariadb_leaves_its_first_statements
    error = failed(mariadb_address)

    assert_match(/are done, and stay: MySQL cannot take them back/, error)
    assert connect(mariadb_address).table_exists?(:half)
  end

  def test_databases_are_created_once
    [postgres_address, mariadb_address].each do |address|
      address = address.sub(%r{/\w+\z}, "/a-new_one")
      2.times { assert_equal 0, Pelton::Sequel::Command.run(["create", "-d", address], out: StringIO.new) }
      connect(address).disconnect
    end
  end

  # The server's default may be latin1, which has no room for most of what people write.
  def test_a_database_of_mariadb_takes_all_characters
    address = mariadb_address.sub(%r{/\w+\z}, "/characters")
    Pelton::Sequel::Command.run(["create", "-d", address], out: StringIO.new)
    database = connect(address)
    database.create_table!(:notes) { String :text }
    database[:notes].insert(text: "żółw 🐢")

    assert_equal "żółw 🐢", database[:notes].get(:text)
  end

  private

  def failed(address)
    database = connect(address)
    database.drop_table?(:half, :schema_migrations)
    Dir.mktmpdir do |folder|
      File.write("#{folder}/20260103_break.rb",
        "Sequel.migration { change { create_table(:half) { Integer :n }; run 'SELEKT' } }")
      assert_raises(Pelton::Sequel::Migrations::Failed) do
        Pelton.run { Pelton::Sequel::Migrations.new(database, folder).migrate }
      end.message
    end
  end
end
