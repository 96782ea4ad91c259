# frozen_string_literal: true

require_relative "../support/sequel_databases"
require "pelton/sequel/command"

# On SQLite.
class SequelMigrationsMigratorTest < PeltonTest
  include SequelDatabases

  def setup
    @folder = Dir.mktmpdir("pelton-sequel-")
    @database = connect(sqlite_file)
    @database.create_table(:parents) { primary_key :id }
    @database.create_table(:children) do
      primary_key :id
      foreign_key :parent_id, :parents, on_delete: :cascade
    end
    @database[:parents].import([:id], [[1], [2]])
    @database[:children].import([:parent_id], [[1], [2]])
  end

  def test_a_table_that_is_made_anew_keeps_the_rows_that_name_it
    migrate("alter_table(:parents) { add_column :name, String, null: false, default: 'x'; set_column_type :name, " \
      ":text; drop_column :name }")

    assert_equal [1, 2], @database[:parents].select_map(:id)
    assert_equal [1, 2], @database[:children].select_map(:parent_id)
    assert_equal :parents, @database.foreign_key_list(:children).first[:table]
    assert_equal 1, @database.synchronize { @database.fetch("PRAGMA foreign_keys").single_value }
  end

  def test_rows_that_would_name_nothing_undo_the_migration
    error = assert_raises(Pelton::Sequel::Migrations::Failed) { migrate("from(:parents).where(id: 1).delete") }

    assert_match(/1 rows of children name rows of parents that are not there.*begin it with no_transaction/,
      error.message)
    assert_equal [1, 2], @database[:parents].select_map(:id)
    assert_raises(Sequel::ForeignKeyConstraintViolation) { @database[:children].insert(parent_id: 9) }
  end

  def test_rows_that_named_nothing_before_are_no_obstacle
    @database.synchronize do
      @database.run("PRAGMA foreign_keys = 0")
      @database[:children].insert(parent_id: 9)
      @database.run("PRAGMA foreign_keys = 1")
    end

    assert_equal ["1_one.rb"], migrate("from(:parents).insert(id: 3)")
  end

  def test_without_a_transaction_foreign_keys_act
    migrate("from(:parents).where(id: 1).delete", "no_transaction")

    assert_equal [2], @database[:children].select_map(:parent_id)
  end

  def test_without_a_transaction_a_failed_one_leaves_its_first_statements
    error = assert_raises(Pelton::Sequel::Migrations::Failed) do
      migrate("create_table(:half) { Integer :n }; run 'SELEKT'", "no_transaction")
    end

    assert_match(/Its statements before the failing one are done, and stay: the file has no_transaction/, error.message)
    assert @database.table_exists?(:half)
  end

  private

  def migrate(body, settings = "")
    File.write("#{@folder}/1_one.rb", "Sequel.migration do\n  #{settings}\n  up { #{body} }\nend")
    Pelton::Sequel::Migrations.new(@database, @folder).migrate
  ensure
    FileUtils.rm_rf(@folder)
  end
end
