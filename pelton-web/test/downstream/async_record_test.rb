# frozen_string_literal: true

require "json"
require "trilogy"
require_relative "../support/web_program"
require_relative "../../../test/support/databases"

# The programs of the article "AsyncRecord" (2010), as they are printed, on both libraries.
class ArticleAsyncRecordTest < PeltonTest
  include WebProgram
  include Databases

  self.deadline = 120

  PROGRAM = File.read(File.expand_path("../support/async_record_program.rb", __dir__))
  ANSWERS = <<~TEXT
    200 text/plain #{"user 0\nuser 1\nuser 2\nuser 3\nuser 4".inspect}
    200 text/plain #{"user 0\nuser 1\nuser 2\nuser 3\nuser 4\n".inspect}
  TEXT

  def test_active_record_on_sqlite
    assert_equal ANSWERS, on_active_record(adapter: "sqlite3", database: "article.sqlite3")
  end

  def test_active_record_on_mariadb
    assert_equal ANSWERS, on_active_record(adapter: "trilogy", host: "127.0.0.1", port: mariadb, username: "root",
      database: "test", ssl_mode: 0)
  end

  def test_sequel_on_sqlite
    assert_equal ANSWERS, answers("sequel", "sqlite::memory:")
  end

  def test_sequel_on_mariadb
    assert_equal ANSWERS, answers("sequel", "mysql://root@127.0.0.1:#{mariadb}/test")
  end

  private

  def answers(*arguments) = web_output("ARGV.replace(#{arguments})\n#{PROGRAM}")

  def on_active_record(**database) = answers("active_record", JSON.generate(database))
end
