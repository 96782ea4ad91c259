# frozen_string_literal: true

require_relative "../support/sequel_databases"

# With Sequel alone; what pages do is in page_test.rb.
class PeltonPageTest < PeltonTest
  include SequelDatabases

  def test_the_extension_adds_pages_to_datasets_and_models
    output = ruby_output(<<~RUBY, gems: true)
      require "sequel"
      DB = Sequel.connect(adapter: :pelton_sqlite)
      DB.create_table(:tags) { primary_key :id }
      3.times { DB[:tags].insert }
      DB.extension(:pelton_page)
      class Tag < Sequel::Model; end
      puts Tag.order(:id).pelton_page(per: 2).map(&:id).inspect,
        DB[:tags].reverse(:id).pelton_page(per: 2).map { |tag| tag[:id] }.inspect
    RUBY

    assert_equal "[1, 2]\n[3, 2]\n", output
  end
end
