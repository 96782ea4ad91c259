# frozen_string_literal: true

require "test_helper"
require "pelton/sequel"

class DatabaseAddressTest < PeltonTest
  Address = Pelton::Sequel::Address

  def test_files_and_memory
    {"sqlite://app.db" => "app.db", "sqlite:///var/app.db" => "/var/app.db", "sqlite:app.db" => "app.db",
     "sqlite::memory:" => ":memory:", "sqlite://" => ":memory:"}.each do |text, path|
      address = Address.new(text)
      assert_equal :sqlite, address.driver
      assert_equal path, address.options[:database]
    end
    assert_predicate Address.new("sqlite::memory:"), :memory?
    assert_equal %w[sqlite://app.db sqlite::memory:],
      [Address.new("sqlite://app.db"), Address.new("sqlite://")].map(&:to_s)
  end

  def test_servers
    address = Address.new("postgres://me:p%40ss@db.example:5433/app?sslmode=require")

    assert_equal({user: "me", password: "p@ss", host: "db.example", port: 5433, database: "app", sslmode: "require"},
      address.options.except(:driver_options))
    assert_equal "postgres://me@db.example:5433/app", address.to_s
    assert_equal [:mysql] * 4, %w[mysql mariadb trilogy mysql2].map { |scheme| Address.new("#{scheme}://h/d").driver }
    assert_equal "::1", Address.new("postgresql://[::1]/d").options[:host]
  end

  def test_a_plus_sign_in_a_password
    assert_equal "p+ss 1", Address.new("postgres://me:p+ss%201@db.example/app").options[:password]
  end

  def test_mistakes_are_named_without_the_password
    {"nonsense" => /is no address of a database. It is sqlite:/, "redis://h/0" => /no address/, "" => /no address/,
     nil => /no address/,
     "postgres://me:secret@host" => /the name of the database is missing/,
     "mysql://me:secret@h^st/d" => /cannot be read/}.each do |text, message|
      error = assert_raises(Pelton::Sequel::ConfigurationError) { Address.new(text) }

      assert_match message, error.message
      refute_includes error.message, "secret"
    end
  end

  # Sequel passes only some of them on by itself.
  def test_parameters_of_libpq
    options = Address.new("postgres://h/d?application_name=shop&keepalives_idle=60&connect_timeout=3").options

    assert_equal({host: "h", database: "d", connect_timeout: "3"}, options.except(:driver_options))
    assert_equal ["shop", "60", 20_000],
      options[:driver_options].values_at(:application_name, :keepalives_idle, :tcp_user_timeout)
    refute_includes Address.new("mysql://h/d").options, :driver_options
  end

  # libpq asks them in their order: a primary and its standby.
  def test_several_hosts_are_postgresql_s
    several = Pelton::Sequel::Address.new("postgres://ann:secret@one:1,two:2/app?target_session_attrs=read-write")

    assert_equal({host: "one,two", port: "1,2", user: "ann", password: "secret", database: "app"},
      several.options.except(:driver_options))
    assert_equal "read-write", several.options.dig(:driver_options, :target_session_attrs)
    assert_equal "postgres://ann@one,two:1,2/app", several.to_s
    assert_equal "one,two", Pelton::Sequel::Address.new("postgres://one,two/app").options[:host]
    error = assert_raises(Pelton::Sequel::ConfigurationError) do
      Pelton::Sequel::Address.new("mysql://ann:secret@one,two/app")
    end
    assert_match(/an address has one server.*replicas:/, error.message)
    refute_includes error.message, "secret"
  end
end
