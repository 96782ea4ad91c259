# frozen_string_literal: true

require "test_helper"
require_relative "support/blog"

class SecureTest < PeltonTest
  include Blog

  def setup
    super
    table(:accounts) do
      String :email
      String :token
      String :password_digest
    end
  end

  def test_tokens
    account = model(:Account) { has_secure_token }
    one = account.create!(email: "a")
    before = one.token

    assert_match(/\A[1-9A-HJ-NP-Za-km-z]{24}\z/, before)
    one.regenerate_token

    refute_equal before, one.reload.token
    assert_equal "given", account.create!(token: "given").token
    assert_raises(ArgumentError) { account.has_secure_token(:email, length: 5) }
  end

  def test_passwords
    begin
      require "bcrypt"
    rescue LoadError
      error = assert_raises(Pelton::Record::Error) { model(:Account) { has_secure_password } }

      return assert_match(/gem "bcrypt"/, error.message)
    end
    account = model(:Account) { has_secure_password }
    one = account.create!(email: "a", password: "secret")

    assert_equal one, account.authenticate_by(email: "a", password: "secret")
    assert_nil account.authenticate_by(email: "a", password: "wrong")
    assert_nil account.authenticate_by(email: "b", password: "secret")
    refute one.authenticate("wrong")
    refute_predicate account.new(email: "x"), :valid?
  end
end
