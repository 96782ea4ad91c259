# frozen_string_literal: true

require "test_helper"
require "pelton/sequel"

class DriverTest < PeltonTest
  Driver = Pelton::Sequel::Driver

  def test_a_missing_gem_is_named
    error = assert_raises(Pelton::Sequel::ConfigurationError) { Driver.need("no-such-gem", "no_such_feature") }

    assert_equal 'the driver is missing: gem install no-such-gem, or add gem "no-such-gem" to the Gemfile',
      error.message
  end

  def test_errors_of_connecting_say_what_to_do
    driver = Driver.new("postgres://h/d")
    {"FATAL: database \"d\" does not exist" => /Create it: pelton db create/, "Unknown database 'd'" => /Create it/,
     "password authentication failed for user" => /check the user and the password/,
     "Connection refused" => /nobody answers there/,
     "too many clients already" => /too many clients already/}.each do |message, advice|
      error = driver.connection_error(StandardError.new(message))

      assert_match(/\Apostgres:\/\/h\/d: /, error.message)
      assert_match advice, error.message
    end
  end

  def test_the_place_is_free_even_if_closing_fails
    driver = Driver.new("x")
    driver.database = Object.new.tap { |database| def database.disconnect_connection(_) = raise(IOError) }
    freed = false
    assert_raises(IOError) { driver.discard(Struct.new(:connection, :interrupted).new(1, false)) { freed = true } }

    assert freed
  end
end
