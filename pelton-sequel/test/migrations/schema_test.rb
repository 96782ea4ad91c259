# frozen_string_literal: true

require_relative "../support/sequel_databases"
require "pelton/sequel/command"

class SequelMigrationsSchemaTest < PeltonTest
  include SequelDatabases

  def setup
    @path = Dir.mktmpdir("pelton-sequel-")
    @file = "#{@path}/deep/schema.rb"
    @database = connect
    @database.create_table(:schema_migrations) { String :filename, primary_key: true }
    @database[:schema_migrations].import([:filename], [["10_b.rb"], ["9_a.rb"]])
    @database.create_table(:posts) do
      primary_key :id
      String :title, null: false, index: true
    end
    @schema = Pelton::Sequel::Migrations::Schema.new(@database, @file)
  end

  def teardown
    FileUtils.rm_rf(@path)
    super
  end

  def test_it_is_written_once
    assert_equal true, @schema.write
    assert_equal false, @schema.write
    assert_match(/create_table\(:posts\).*__END__\n9_a.rb\n10_b.rb\n\z/m, File.read(@file))
    assert_equal ["schema.rb"], Dir.children(File.dirname(@file))
  end

  def test_what_is_loaded_is_the_same
    @schema.write
    other = connect

    assert_equal %w[9_a.rb 10_b.rb], Pelton::Sequel::Migrations::Schema.new(other, @file).load
    assert_equal %w[10_b.rb 9_a.rb], other[:schema_migrations].select_order_map(:filename)
    assert_equal [:title], other.indexes(:posts).values.first[:columns]
    assert_equal @database.schema(:posts).to_h.keys, other.schema(:posts).to_h.keys
  end

  def test_what_cannot_be_loaded
    @schema.write
    assert_match(/has tables already \(posts, schema_migrations\)/,
      refused(@database, Pelton::Sequel::ConfigurationError))
    whole = File.read(@file)
    {"Sequel.migration { nonsense }\n__END__\n" => /nonsense/,
     whole.sub("change do", "change do (") => /cannot be read: .*syntax error/m,
     whole.sub("change do", "change do\nrun 'SELEKT'") => /failed/}.each do |text, message|
      File.write(@file, text)
      other = connect
      assert_match message, refused(other, Pelton::Sequel::Migrations::Failed)
      assert_empty other.tables
    end
    File.write(@file, whole.sub(/__END__.*/m, ""))
    assert_match(/does not name the migrations that have made it/, refused(connect, Pelton::Sequel::ConfigurationError))
  end

  private

  def refused(database, error)
    assert_raises(error) { Pelton::Sequel::Migrations::Schema.new(database, @file).load }.message
  end
end
