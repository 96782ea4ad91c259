# frozen_string_literal: true

require_relative "../test_helper"
require "pg"
require_relative "../support/chat_program"
require_relative "../support/databases"

# The tests of examples/chat, on SQLite and on PostgreSQL.
class ChatTest < PeltonTest
  include ChatProgram
  include Databases

  self.deadline = 120

  def test_on_sqlite = passes("sqlite::memory:")

  def test_on_postgresql
    PG.connect(**postgres_options) do |connection|
      connection.exec("DROP DATABASE IF EXISTS chat").clear.then { connection.exec("CREATE DATABASE chat") }
    end
    passes("postgres://postgres@127.0.0.1:#{postgres}/chat")
  end

  private

  def passes(database) = assert_match(/\D0 failures, 0 errors, 0 skips/, chat("rake", TEST_DATABASE_URL: database))
end
