# frozen_string_literal: true

require_relative "../support/sequel_databases"

# More of it is in database_test.rb.
class SQLiteDatasetTest < PeltonTest
  include SequelDatabases

  def test_columns_can_be_renamed
    database = connect
    database.create_table(:posts) { String :Title }
    database[:posts].insert(Title: "x")
    database.extension(:identifier_mangling)
    dataset = database[:posts].with_identifier_output_method(:downcase)

    assert_equal [{title: "x"}], dataset.all
    assert_equal [:title], dataset.columns
  end

  def test_a_string_with_a_zero_is_text
    database = connect

    assert_equal({t: "text", v: "a\0b"}, database.fetch("SELECT typeof(?) AS t, ? AS v", "a\0b", "a\0b").first)
  end
end
