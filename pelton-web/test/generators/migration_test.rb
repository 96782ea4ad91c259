# frozen_string_literal: true

require "pelton/sequel"
require "pelton/sequel/migrations"
require_relative "../support/generating"

class WebGeneratorsMigrationTest < PeltonTest
  include Generating

  def teardown
    Pelton::Sequel.disconnect
    super
  end

  def test_the_name_says_what_it_does
    assert_match(%r{\A      create  db/migrate/\d{14}_create_posts.rb\n\z},
      generate("migration", "CreatePosts", "title:string!"))
    assert_equal <<~RUBY, migration("create_posts")
      # frozen_string_literal: true

      Sequel.migration do
        change do
          create_table(:posts) do
            primary_key :id
            String :title, null: false
            DateTime :created_at, null: false
            DateTime :updated_at, null: false
          end
        end
      end
    RUBY
    generate("migration", "nothing_yet")

    assert_equal "# frozen_string_literal: true\n\nSequel.migration do\n  change do\n  end\nend\n",
      migration("nothing_yet")
  end

  # Each is applied and taken back by a database.
  def test_they_can_be_applied_and_taken_back
    generate("migration", "create_users", "name")
    generate("migration", "create_posts", "title", "user:references", "key:token", "data:json", "size:bigint",
      "price:decimal{8,2}")
    generate("migration", "add_slug_to_posts", "slug:string:uniq", "author:references", "done:boolean", "count:bigint")
    generate("migration", "remove_title_from_posts", "title")
    generate("migration", "remove_slug_from_posts", "slug:string:uniq")
    generate("migration", "nothing_yet")
    database = Pelton::Sequel.connect("sqlite::memory:")
    migrations = Pelton::Sequel::Migrations.new(database, File.join(@root, "db/migrate"))

    assert_equal 6, migrations.migrate.size
    assert_equal %i[id user_id key data size price created_at updated_at author_id done count], database[:posts].columns
    assert_equal [true],
      database.indexes(:posts).values.filter_map { |index| index[:unique] if index[:columns] == [:key] }
    assert_equal 6, migrations.rollback(6).size
    assert_empty database.tables - %i[schema_migrations]
  end

  # Also in the same second, and where the last one has a later time.
  def test_their_order_is_that_of_the_commands
    put("db/migrate/29990101000000_later.rb", "")
    %w[first second].each { |name| generate("migration", name) }

    assert_equal %w[29990101000000_later.rb 29990101000001_first.rb 29990101000002_second.rb],
      Dir.children(File.join(@root, "db/migrate")).sort
  end

  def test_the_same_name_is_the_same_file
    generate("migration", "create_posts")

    assert_includes generate("migration", "create_posts"), "identical  db/migrate/"
    assert_includes generate("migration", "create_posts", "title", input: "n\n"), "skip  db/migrate/"
    assert_equal 1, written.size
  end

  def test_what_is_refused
    assert_includes refused("migration", "admin/create_posts"), "has no folders"
    assert_includes refused("migration", "create_posts", "a", "a:text"), "there are two columns a"
    assert_includes refused("migration", "create_posts", "a:strin"), "there is no type strin"
    put("config/application.rb", Generating::CONFIGURATION.sub("require \"pelton/sequel\"\n", ""))

    assert_includes refused("migration", "create_posts"), "the application has no models"
  end
end
