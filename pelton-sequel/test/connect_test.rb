# frozen_string_literal: true

require_relative "support/sequel_databases"

class DatabaseConnectTest < PeltonTest
  include SequelDatabases

  def test_it_works_in_a_reactor_and_outside
    assert_equal 1, connect.get(1)
    assert_equal 1, Pelton.run { connect.get(1) }
  end

  def test_a_file_that_cannot_be_opened
    error = assert_raises(Pelton::Sequel::ConfigurationError) { connect("sqlite:///nowhere/at/all.db") }

    assert_equal "sqlite:///nowhere/at/all.db: there is no folder /nowhere/at: create it", error.message
    assert_equal false, error.retriable?
    error = assert_raises(Pelton::Sequel::ConnectionError) { connect("sqlite:///proc") }

    assert_match(%r{\Asqlite:///proc: unable to open database file}, error.message)
  end

  def test_sequel_s_options_pass
    assert_equal "the name", connect("sqlite::memory:", name: "the name").opts[:name]
  end

  ZONES = <<~RUBY
    ENV["TZ"] = "America/New_York"
    require "pelton/sequel"
    Sequel.public_send(*eval(ARGV[0]))
    DB = Pelton::Sequel.connect("sqlite::memory:")
    DB.create_table(:at) { Time :at }
    DB[:at].insert(at: Time.at(0))
    puts DB[:at].get(Sequel.cast(:at, String)), DB[:at].get(:at).to_i, DB[:at].get(:at).utc_offset
  RUBY

  def test_times_are_utc_unless_the_program_has_set_a_zone
    assert_equal "1970-01-01 00:00:00.000000\n0\n0\n", ruby_output(ZONES, "[:inspect]", gems: true)
    assert_equal "1969-12-31 19:00:00.000000\n0\n-18000\n",
      ruby_output(ZONES, "[:default_timezone=, :local]", gems: true)
    assert_equal "1969-12-31 19:00:00.000000\n0\n-18000\n",
      ruby_output(ZONES, "[:application_timezone=, :local]", gems: true)
  end

  def test_a_missing_driver_is_named
    program =
      "require 'pelton/sequel'; def (Pelton::Sequel::Driver).require(feature) = raise(LoadError.new.tap { |e| " \
      "e.instance_variable_set(:@path, feature) }); Pelton::Sequel.connect('postgres://h/d')"
    _, errors, = run_ruby(program, gems: true)

    assert_match(/the driver is missing: gem install pg, or add gem "pg" to the Gemfile/, errors)
  end

  def test_the_address_may_be_set_before
    error = assert_raises(Pelton::Sequel::ConfigurationError) { Pelton::Sequel.connect }
    assert_match(/the address of the database is missing: .*Pelton::Sequel.address = before/, error.message)
    Pelton::Sequel.address = "sqlite::memory:"

    assert_equal 1, Pelton::Sequel.connect.get(1)
  ensure
    Pelton::Sequel.address = nil
    Pelton::Sequel.disconnect
  end

  def test_the_connected_databases
    first, second = connect, connect

    assert_equal [first, second], Pelton::Sequel.databases
    Pelton::Sequel.disconnect(first)
    assert_equal [second], Pelton::Sequel.databases
    Pelton::Sequel.disconnect
    assert_empty Pelton::Sequel.databases
    assert_empty Sequel::DATABASES & [first, second]
  end

  # Until it is disconnected.
  def test_a_plain_model_of_sequel_has_the_database
    first = connect
    first.create_table(:things) { primary_key :id }
    thing = Class.new(Sequel::Model) { set_dataset(:things) }

    assert_equal first, thing.db
    assert_equal 1, thing.create.id
    Pelton::Sequel.disconnect(first)
    refute_includes Sequel::DATABASES, first
    assert_raises(Sequel::Error) { Sequel::Model.db }
  end
end
