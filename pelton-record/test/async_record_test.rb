# frozen_string_literal: true

require_relative "support/blog"
require "pelton/record/async_record"

# Article 004's API.
class AsyncRecordTest < PeltonTest
  include Blog

  class User < AsyncRecord::Base
  end

  def setup
    super
    table(:users) { String :username }
    User.insert_all(Array.new(7) { |index| {username: "user #{index}"} })
  end

  def test_the_article_s_program
    sent = []
    Pelton.run do
      User.all(:limit => 5) do |users| # standard:disable Style/HashSyntax
        users.each { |user| sent << "#{user.username}\n" }
      end
    end

    assert_equal Array.new(5) { |index| "user #{index}\n" }, sent
  end

  def test_find_and_count
    got = []
    Pelton.run do
      User.find(3) { |user| got << user.username }
      User.count { |count| got << count }
    end

    assert_equal ["user 2", 7], got.sort_by(&:to_s).reverse
    assert_equal [7, "user 0"], [User.count, User.find(1).username]
  end
end
