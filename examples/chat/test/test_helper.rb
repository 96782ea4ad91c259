# frozen_string_literal: true

ENV["RACK_ENV"] = "test"
# Ignores the DATABASE_URL of another environment.
ENV["DATABASE_URL"] = ENV.fetch("TEST_DATABASE_URL", "sqlite::memory:")
require_relative "../config/application"
require "minitest/autorun"
require "pelton/web/test"
require_relative "support/signing_in"
require "pelton/record/test"
require "pelton/record/migrations"

Chat.boot!
migrations = File.join(Chat.settings.root, "db/migrate")
Pelton::Record::Migrations.new(Pelton::Record.database, migrations).migrate if Dir.exist?(migrations)

# Each test runs in a transaction that is rolled back.
class ApplicationTest < Minitest::Test
  include Pelton::Web::Test
  include SigningIn
  include Pelton::Record::Test

  def app = Chat
end
