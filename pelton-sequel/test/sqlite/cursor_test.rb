# frozen_string_literal: true

require_relative "../support/sequel_databases"

class SQLiteCursorTest < PeltonTest
  include SequelDatabases

  def setup
    @database = connect
    @database.create_table(:numbers) { Integer :n }
    @database[:numbers].import([:n], Array.new(500) { |n| [n + 1] })
  end

  def test_rows_are_read_in_pieces
    seen = 0
    @database[:numbers].each do
      seen += 1
      assert_operator statements_in_use, :==, (seen <= 400) ? 1 : 0
    end

    assert_equal 500, seen
  end

  def test_breaking_off_gives_the_statement_back
    @database[:numbers].each { break }
    @database.run("DROP TABLE numbers") # an open statement would lock it

    assert_empty @database.tables
  end

  def test_an_error_in_the_block_gives_it_back
    assert_raises(RuntimeError) { @database[:numbers].each { raise "no" } }
    @database.run("DROP TABLE numbers")

    assert_empty @database.tables
  end

  def test_no_rows
    assert_empty @database[:numbers].where(n: -1).all
    assert_equal [:n], @database[:numbers].where(n: -1).columns!
  end

  private

  def statements_in_use
    @database.synchronize do |connection|
      connection.instance_variable_get(:@statements).key?("SELECT * FROM `numbers`") ? 0 : 1
    end
  end
end
