# frozen_string_literal: true

require "test_helper"
require "pelton/sequel"

class DatabaseErrorTest < PeltonTest
  def test_each_is_pelton_s_and_says_whether_trying_again_can_help
    retriable = {ConnectionError => true, PoolTimeoutError => true, ConfigurationError => false,
                 SharedConnectionError => false}

    assert_equal retriable, retriable.to_h { |error, _| [error, error.new.retriable?] }
    assert(retriable.keys.all? { |error| error < Pelton::Error })
    assert_operator PoolTimeoutError, :<, Pelton::TimeoutError
  end

  ConnectionError = Pelton::Sequel::ConnectionError
  PoolTimeoutError = Pelton::Sequel::PoolTimeoutError
  ConfigurationError = Pelton::Sequel::ConfigurationError
  SharedConnectionError = Pelton::Sequel::SharedConnectionError
end
