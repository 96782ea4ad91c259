# frozen_string_literal: true

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

  # The gem is not in the bundle.
  def test_passwords_by_bcrypt
    output, errors, status = run_ruby(<<~RUBY, File.expand_path("../lib", __dir__), gems: true, env: {"MT_NO_PLUGINS" => "1"})
      $LOAD_PATH.unshift(ARGV[0])
      begin
        require "bcrypt"
      rescue LoadError
        exit 3
      end
      require "pelton/record"
      ActiveModel::SecurePassword.min_cost = true
      database = Pelton::Record.connect("sqlite::memory:")
      database.create_table(:users) do
        primary_key :id
        %i[email password_digest recovery_digest].each { |name| String(name) }
      end
      class User < Pelton::Record::Model
        has_secure_password
        has_secure_password :recovery, validations: false
      end
      user = User.create!(email: "a", password: "secret", password_confirmation: "secret", recovery: "code")
      raise unless user.password_digest.start_with?("$2a$") && BCrypt::Password.new(user.reload.password_digest) == "secret"
      raise if [user.authenticate("wrong"), User.authenticate_by(email: "a", password: "wrong"), User.authenticate_by(email: "b", password: "secret"),
        User.authenticate_by(email: "a", password: ""), User.authenticate_by(email: "a", password: ["secret"])].any?
      raise unless [user.authenticate("secret"), User.authenticate_by(email: "a", password: "secret"), user.authenticate_recovery("code")].uniq == [user]
      raise if user.inspect.include?("$2a$")
      user.update!(password: "other", password_confirmation: "other")
      raise unless User.first.authenticate("other") && !User.first.authenticate("secret")
      puts User.new(email: "x", password: "y" * 73, password_confirmation: "z").tap(&:valid?).errors.full_messages
    RUBY
    skip "bcrypt is not installed" if status.exitstatus == 3
    assert status.success?, errors
    assert_equal ["Password confirmation doesn't match Password", "Password is too long"], output.lines(chomp: true).sort
  end
end
