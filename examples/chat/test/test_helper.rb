# frozen_string_literal: true

ENV["RACK_ENV"] = "test"
# Ignores the DATABASE_URL of another environment.
ENV["DATABASE_URL"] = ENV.fetch("TEST_DATABASE_URL", "sqlite::memory:")
require_relative "../config/application"
require "minitest/autorun"
require "pelton/web/test"
require_relative "support/signing_in"
require "pelton/sequel/test"
require "pelton/sequel/migrations"

# Models have the columns of their tables.
Pelton::Sequel::Migrations.new(DB, File.join(Chat.settings.root, "db/migrate")).migrate
Chat.boot!

# Each test runs in a transaction that is rolled back.
class ApplicationTest < Minitest::Test
  include Pelton::Web::Test
  include SigningIn
  include Pelton::Sequel::Test

  def app = Chat
end
