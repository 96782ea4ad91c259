# frozen_string_literal: true

require_relative "support/sequel_databases"
require "pelton/sequel/command"

class SequelCommandTest < PeltonTest
  include SequelDatabases

  def setup
    @folder = Dir.mktmpdir("pelton-sequel-")
    @back = Dir.pwd
    Dir.chdir(@folder)
    FileUtils.mkdir_p("db/migrate")
    migration("20260101_create_posts", "create_table(:posts) { primary_key :id; String :title }")
    migration("20260102_add_body", "alter_table(:posts) { add_column :body, String }")
  end

  def teardown
    Dir.chdir(@back)
    super
  end

  def test_create_migrate_status_and_rollback
    assert_equal [0, "sqlite://db/app.db is there\n"], pelton("create").first(2)
    assert_equal [0, "20260101_create_posts.rb: pending\n20260102_add_body.rb: pending\n"], pelton("status").first(2)
    status, output, = pelton("migrate")
    assert_equal 0, status
    assert_match(/\A20260101_create_posts.rb \.\.\.\n20260101_create_posts.rb: done in \d+\.\d\d s\n.*2 migrated\ndb\/schema.rb is written\n\z/m,
      output)
    assert_equal %i[id title body], connect("sqlite://db/app.db")[:posts].columns
    assert_match(/create_table\(:posts\)/, File.read("db/schema.rb"))
    assert_equal [0, "no migration is pending\n"], pelton("migrate").first(2)

    assert_match(/1 taken back/, pelton("rollback")[1])
    assert_equal [0, "20260101_create_posts.rb: applied\n20260102_add_body.rb: pending\n"], pelton("status").first(2)
    pelton("migrate")
    assert_match(/2 taken back/, pelton("rollback", "5")[1])
    assert_equal [0, "no migration is applied\n"], pelton("rollback").first(2)
  end

  # Its folder may be read-only there.
  def test_in_production_the_schema_is_written_only_when_it_is_asked_for
    before, ENV["RACK_ENV"] = ENV["RACK_ENV"], "production"

    assert_match(/2 migrated\n\z/, pelton("migrate")[1])
    assert_match(/1 taken back\n\z/, pelton("rollback")[1])
    refute_path_exists "db/schema.rb"
    assert_equal [0, "db/schema.rb is written\n"], pelton("schema").first(2)
  ensure
    ENV["RACK_ENV"] = before
  end

  def test_a_migration_that_fails_leaves_nothing_and_says_where
    migration("20260103_break", "create_table(:half) { Integer :n }\nrun 'SELEKT'")
    status, _, error = pelton("migrate")

    assert_equal 1, status
    assert_match(%r{db/migrate/20260103_break.rb:2 failed: .*syntax error.*Nothing of it is left: .*Mend the file and run pelton db migrate again},
      error)
    database = connect("sqlite://db/app.db")
    assert_equal [true, false], [:posts, :half].map { |table| database.table_exists?(table) }
  end

  def test_a_migration_that_cannot_be_loaded_says_where
    {
      "create_table(:half) {" => /20260103_break.rb:\d+: .*syntax error/m,
      "}; nonsense(1); proc {" => /20260103_break.rb:1: .*nonsense.* \(NoMethodError\)/,
      "}; Sequel.migration {" => /20260103_break.rb: it needs one `Sequel.migration do/,
      "}; Kernel.require 'not/there'; proc {" => /20260103_break.rb:1: .*not\/there \(LoadError\)/
    }.each do |body, message|
      migration("20260103_break", body)
      status, _, error = pelton("migrate")

      assert_equal 1, status
      assert_match message, error
      assert_match(/No migration was applied: mend the file and run pelton db migrate again/, error)
    end
    assert_equal 3, pelton("status")[1].scan("pending").size
  end

  def test_the_application_s_own_database
    FileUtils.mkdir_p("config")
    File.write("config/database.rb", "Pelton::Sequel.address = ENV.fetch('OTHER') { 'sqlite://db/own.db' }")
    assert_equal [0, "sqlite://db/own.db is there\n"], run_command({}, "create").first(2)
    assert_match(/sqlite:\/\/db\/app.db/, run_command({"DATABASE_URL" => "sqlite://db/app.db"}, "create")[1])
    assert_match(/sqlite:\/\/db\/third.db/, pelton("create", "-d", "sqlite://db/third.db")[1])
    assert_nil Pelton::Sequel.address
    File.write("other.rb", "\nnonsense")

    assert_match(/other.rb:2 cannot be loaded: .*nonsense/, run_command({}, "create", "-c", "other.rb").last)
  end

  def test_drop
    pelton("migrate")
    assert_equal [0, "sqlite://db/app.db is dropped\n"], pelton("drop").first(2)
    assert_empty Dir["db/app.db*"]
    assert_equal [0, "sqlite://db/app.db is not there\n"], pelton("drop").first(2)
  end

  def test_drop_on_a_server
    mock = nil
    ran = lambda do |address, **|
      mock = Sequel.mock(host: "postgres", keep_reference: false)
      mock.tap { |database| database.opts[:address] = address }
    end
    said = Pelton::Sequel.stub(:connect, ran) { run_command({"DATABASE_URL" => "postgres://ann@h/app"}, "drop") }

    assert_equal [0, "postgres://ann@h/app is dropped\n"], said.first(2)
    assert_equal [%(DROP DATABASE "app")], mock.sqls
    assert_equal "postgres://ann@h/postgres", mock.opts[:address]
  end

  def test_drop_in_production_wants_force
    before, ENV["RACK_ENV"] = ENV["RACK_ENV"], "production"
    pelton("create")

    assert_match(/--force/, pelton("drop").last)
    assert_path_exists "db/app.db"
    assert_equal 0, pelton("drop", "--force").first
    refute_path_exists "db/app.db"
  ensure
    ENV["RACK_ENV"] = before
  end

  def test_a_schema_is_loaded_into_an_empty_database
    pelton("migrate")
    written = File.read("db/schema.rb")
    assert_match(/has tables already \(posts, schema_migrations\)/, pelton("schema", "load").last)
    pelton("drop")
    migration("20260103_add_more", "alter_table(:posts) { add_column :more, String }")

    assert_equal [0, "db/schema.rb is loaded, with 2 migrations\n"], pelton("schema", "load").first(2)
    assert_equal "20260101_create_posts.rb: applied\n20260102_add_body.rb: applied\n20260103_add_more.rb: pending\n",
      pelton("status")[1]
    assert_match(/1 migrated/, pelton("migrate")[1])
    assert_equal %i[id title body more], connect("sqlite://db/app.db")[:posts].columns
    refute_equal written, File.read("db/schema.rb")
  end

  # Whoever was killed before it wrote the file does so in the next run.
  def test_a_schema_that_is_missing_is_written_by_the_next_run
    pelton("migrate")
    File.delete("db/schema.rb")

    assert_equal [0, "no migration is pending\ndb/schema.rb is written\n"], pelton("migrate").first(2)
    assert_equal [0, "db/schema.rb is as the database\n"], pelton("schema").first(2)
  end

  # Nobody else waits for the loop, so the watchdog has nothing to report.
  def test_a_migration_may_compute_for_long
    migration("20260103_compute", "over = Pelton::Clock.now + 5 * Pelton::Watchdog::DEFAULT\n" \
      "until Pelton::Clock.now > over; end\ncreate_table(:computed) { Integer :n }")
    output, status = Open3.capture2e(child_environment.merge("RUBYLIB" => LIBRARIES), *PELTON, "db", "migrate", "-d",
      "sqlite://db/app.db")

    assert_predicate status, :success?, output
    refute_includes output, "loop"
    assert_includes output, "3 migrated"
  end

  def test_seed
    File.write("db/seeds.rb", "Sequel::Model.db[:posts].insert(title: MODEL)")
    File.write("models.rb", "MODEL = 'first'")
    pelton("migrate")

    assert_equal [0, "db/seeds.rb has run\n"], pelton("seed", "-r", "models.rb").first(2)
    assert_equal ["first"], connect("sqlite://db/app.db")[:posts].select_map(:title)
    FileUtils.rm("db/seeds.rb")
    assert_match(/there is no db\/seeds.rb/, pelton("seed").last)
  end

  def test_schema_to_a_file_that_makes_the_same_tables
    pelton("migrate")
    pelton("schema", "--schema", "copy.rb")
    other = connect
    Sequel.extension(:migration)
    eval(File.read("copy.rb")).apply(other, :up) # standard:disable Security/Eval

    assert_equal %i[id title body], other[:posts].columns
  end

  def test_console
    program = "require 'pelton/sequel/command'; exit Pelton::Sequel::Command.run(ARGV)"
    output, _, status = run_ruby(program, "console", "-d", "sqlite::memory:", stdin: "puts DB.get(6 * 7)\nexit\n",
      gems: true)

    assert status.success?
    assert_match(/^42$/, output)
  end

  # From Ruby 4.0 on it is a gem.
  def test_the_console_without_irb
    program = <<~RUBY
      def require(name)
        (name == 'irb') ? raise(LoadError.new('none').tap { |error| def error.path = 'irb' }) : super
      end
      require 'pelton/sequel/command'
      exit Pelton::Sequel::Command.run(ARGV)
    RUBY
    _, errors, status = run_ruby(program, "console", "-d", "sqlite::memory:", gems: true)

    assert_equal 1, status.exitstatus
    assert_match(/\Apelton db console: the console needs irb, .*: add gem "irb" to the Gemfile\n\z/, errors)
  end

  def test_mistakes
    assert_match(/no command "nonsense".*usage: pelton db/m, pelton("nonsense").last)
    assert_equal 2, pelton("rollback", "none").first
    assert_equal 2, pelton("migrate", "--nonsense").first
    assert_match(/no address of a database/, pelton("status", "-d", "nonsense").last)
    FileUtils.rm_rf("db/migrate")
    assert_match(/there are no migrations in db\/migrate/, pelton("migrate").last)
    assert_match(/there is no schema sideways/, pelton("schema", "sideways").last)
    assert_match(/there is no db\/schema.rb/, pelton("schema", "load").last)
    assert_equal 2, run_command({}, "status").first
    assert_equal 0, run_command({}, "--help").first
  end

  private

  def migration(name, body) = File.write("db/migrate/#{name}.rb", "Sequel.migration { change { #{body} } }\n")

  def pelton(*arguments) = run_command({"DATABASE_URL" => "sqlite://db/app.db"}, *arguments)

  # The exit status, and what was written to the two outputs.
  def run_command(environment, *arguments)
    before = ENV["DATABASE_URL"]
    ENV["DATABASE_URL"] = environment["DATABASE_URL"]
    out, error = StringIO.new, StringIO.new
    [Pelton::Sequel::Command.run(arguments, out: out, error: error), out.string, error.string]
  ensure
    ENV["DATABASE_URL"] = before
  end
end
