# frozen_string_literal: true

require "pg"
require "trilogy"
require_relative "../support/sequel_databases"
require "pelton/sequel/command"

# Several `pelton db` at once, and some that are killed: processes of their own. A migration passes its gates by files,
# so each is held at the step that a test is about.
class SequelMigratorsTest < PeltonTest
  include SequelDatabases

  self.deadline = 120
  KINDS = {sqlite: :sqlite_file, postgres: :postgres_address, mariadb: :mariadb_address}.freeze

  def setup
    @path = Dir.mktmpdir("pelton-sequel-")
    @running = []
    Dir.mkdir("#{@path}/migrate")
    migration("20240101_users", "up { create_table(:users) { primary_key :id; String :name, size: 50 }; " \
      "from(:users).insert(name: 'n') }; down { drop_table(:users) }")
  end

  def teardown
    @running.each do |pid|
      Process.kill("KILL", pid)
      Process.wait(pid)
    rescue Errno::ESRCH, Errno::ECHILD
      nil
    end
    FileUtils.rm_rf(@path)
    super
  end

  KINDS.each do |kind, address|
    [2, 5].each do |count|
      define_method(:"test_#{count}_at_once_apply_each_migration_once_on_#{kind}") do
        begin_with(send(address))
        first = begun("20240102_data", "up { #{GATE}; from(:users).update(name: Sequel.join(['x', :name])) }; down {}")
        others = Array.new(count - 1) { db("migrate") }
        others.each { |other| await_output(other, /waits for another process that migrates: .*\d/) }
        go_on

        [first, *others].each { |one| assert_equal 0, ended(one), output(one) }
        assert_equal [/1 migrated/, *[/no migration is pending/] * (count - 1)],
          [first,
            *others].map { |one| output(one)[/1 migrated|no migration is pending/].then { |found| Regexp.new(found) } }
        assert_equal ["xn"], users
        assert_equal %w[20240101_users.rb 20240102_data.rb], applied
      end
    end

    define_method(:"test_a_rollback_waits_for_a_migration_on_#{kind}") do
      begin_with(send(address))
      first = begun("20240102_more", "up { #{GATE}; create_table(:more) { Integer :n } }; down { drop_table(:more) }")
      second = db("rollback")
      await_output(second, /waits for another/)
      go_on

      assert_equal 0, ended(first)
      assert_equal 0, ended(second)
      assert_equal %w[20240101_users.rb], applied
      assert_equal false, @database.table_exists?(:more)
    end

    define_method(:"test_one_that_was_killed_while_it_waited_changes_nothing_on_#{kind}") do
      begin_with(send(address))
      first = begun("20240102_data", "up { #{GATE}; from(:users).update(name: Sequel.join(['x', :name])) }; down {}")
      second = db("migrate")
      await_output(second, /waits/)
      kill(second)
      go_on

      assert_equal 0, ended(first)
      assert_equal ["xn"], users
      assert_equal 0, ended(db("migrate"))
    end

    define_method(:"test_one_that_was_killed_while_it_wrote_the_schema_is_made_good_on_#{kind}") do
      begin_with(send(address))
      migration("20240102_more", "change { create_table(:more) { Integer :n } }")
      File.write("#{@path}/slow.rb",
        "class Pelton::Sequel::Migrations::Schema\n  prepend(Module.new { def write = #{GATE} })\nend")
      first = db("migrate", load: "#{@path}/slow.rb")
      await("begun")
      kill(first)
      second = db("migrate")

      assert_equal 0, ended(second)
      assert_match(/no migration is pending.*schema.rb is written/m, output(second))
      assert_match(/create_table\(:more\).*20240102_more.rb/m, File.read("#{@path}/schema.rb"))
    end

    [:middle, :unrecorded].each do |step|
      moment = (step == :middle) ? "in_the_middle" : "before_its_version_was_recorded"
      define_method(:"test_one_that_was_killed_#{moment}_on_#{kind}") do
        begin_with(send(address))
        first_part, rest = "create_table(:half) { Integer :n }", "from(:users).update(name: Sequel.join(['x', :name]))"
        killed_in((step == :middle) ? "#{first_part}; #{GATE}; #{rest}" : "#{first_part}; #{rest}; #{GATE}")
        again = db("migrate")
        if kind == :mariadb
          assert_unfinished(again, first_part, (step == :middle) ? rest : "", (step == :middle) ? %w[n] : %w[xn])
        else
          assert_equal 0, ended(again), output(again)
        end
        assert_equal ["xn"], users
        assert_equal %w[20240101_users.rb 20240102_data.rb], applied
        assert_equal true, @database.table_exists?(:half)
        refute @database.table_exists?(:schema_migrations_unfinished)
      end
    end
  end

  def test_without_a_transaction_a_killed_one_is_told_on_every_database
    %i[sqlite_file postgres_address].each do |address|
      begin_with(send(address))
      killed_in("create_table(:half) { Integer :n }; #{GATE}", "no_transaction")
      again = db("migrate")

      assert_equal 1, ended(again)
      expected =
        /20240102_data.rb did not end: begun .* by process \d+ on .*, without a transaction.*pelton db migrate --retry/
      assert_match expected, output(again)
      FileUtils.rm_f(%W[#{@path}/begun #{@path}/go])
    end
  end

  # A session's statement goes on at the server when its client is gone, and the lock with it.
  def test_a_statement_that_outlives_its_process_keeps_the_lock
    begin_with(postgres_address)
    first =
      begun("20240102_data", "up { File.write(#{"#{@path}/begun".inspect}, ''); run 'SELECT pg_sleep(1)'; " \
        "from(:users).update(name: Sequel.join(['x', :name])) }; down {}")
    kill(first)

    assert_equal 0, ended(second = db("migrate")), output(second)
    assert_equal ["xn"], users
  end

  def test_a_database_is_not_dropped_under_a_migration
    begin_with(sqlite_file)
    first = begun("20240102_data", "up { #{GATE} }; down {}")
    drop = db("drop", "--wait", "0")

    assert_equal 1, ended(drop)
    assert_match(/another process migrates this database/, output(drop))
    FileUtils.touch("#{@path}/go")
    assert_equal 0, ended(first)
    assert_equal 0, ended(db("drop"))
  end

  private

  # A migration that waits in its middle.
  def begun(name, body, **options)
    migration(name, body)
    db("migrate", **options).tap { await("begun") }
  end

  def go_on = FileUtils.touch("#{@path}/go")

  # In a migration's file: says that it is here, and waits.
  GATE =
    "(File.write(File.join(ENV['GATES'], 'begun'), ''); sleep 0.01 until File.exist?(File.join(ENV['GATES'], 'go')))"

  def begin_with(address)
    @address = address
    @database = connect(address)
    @database.drop_table?(:users, :half, :more, :schema_migrations, :schema_migrations_unfinished)
    FileUtils.rm_f(Dir["#{@path}/migrate/20240102*"])
    Pelton.run { Pelton::Sequel::Migrations.new(@database, "#{@path}/migrate").migrate }
  end

  def killed_in(body, settings = "")
    first = begun("20240102_data", "#{settings}\n  up { #{body} }; down {}")
    kill(first)
    migration("20240102_data", "#{settings}\n  up { #{body.sub(GATE, "")} }; down {}")
  end

  # MariaDB cannot take tables back: the next run says so, and goes on when the file has been mended.
  def assert_unfinished(again, first_part, rest, expected)
    assert_equal 1, ended(again)
    assert_equal expected, users
    assert_match(/20240102_data.rb did not end: begun .*, or all.*--retry/, output(again))
    assert_match(/20240102_data.rb: pending, and has begun and not ended/,
      db("status").tap { |one| ended(one) }.then { |one| output(one) })
    migration("20240102_data", "up { #{rest} }; down {}")
    assert_equal 0, ended(last = db("migrate", "--retry")), output(last)
  end

  def migration(name, body) = File.write("#{@path}/migrate/#{name}.rb", "Sequel.migration do\n  #{body}\nend\n")

  def db(*command, load: nil)
    options = ["--migrations", "#{@path}/migrate", "--schema", "#{@path}/schema.rb", "-d", @address]
    libraries = %W[-I#{__dir__}/../../../lib -I#{__dir__}/../../lib]
    start =
      "require 'pelton/sequel/command'; $stdout.sync = true; require #{load.inspect} if #{!load.nil?}; exit " \
      "Pelton::Sequel::Command.run(ARGV)"
    number = @running.size
    pid = Process.spawn({"GATES" => @path, "RACK_ENV" => nil}, RbConfig.ruby, *libraries, "-e", start, *command,
      *options, %i[out err] => "#{@path}/output.#{number}")
    @running << pid
    [pid, number]
  end

  def output((_, number)) = File.read("#{@path}/output.#{number}")

  def ended((pid, _))
    _, status = Process.wait2(pid)
    status.exitstatus
  end

  def kill((pid, _))
    Process.kill("KILL", pid)
    Process.wait(pid)
  end

  def await(file)
    sleep 0.01 until File.exist?("#{@path}/#{file}")
  end

  def await_output(one, pattern)
    sleep 0.01 until output(one).match?(pattern)
  end

  def users = @database[:users].select_map(:name)

  def applied = @database[:schema_migrations].select_order_map(:filename)
end
