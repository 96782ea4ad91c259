# frozen_string_literal: true

require_relative "../../support/rails_program"

class CacheVersionsTest < PeltonTest
  include RailsProgram

  self.deadline = 120

  # Prints what the versions of a post are, and what they are by Rails' own way, which parses the time.
  VERSIONS = <<~RUBY
    ActiveRecord::Base.cache_versioning = true
    Post.lease_connection.add_column(:posts, :updated_at, :datetime)
    Post.reset_column_information
    Post.create!(title: "one", updated_at: Time.utc(2024, 7, 1, 12, 30, 15.25r))
    post, parsed = Post.first, Post.first
    parsed.updated_at
    own = Class.new(Post) { define_method(:can_use_fast_cache_version?) { |_| false } }.first
    ActiveRecord::Base.connection_handler.clear_active_connections!
  RUBY

  def test_a_version_needs_no_connection
    output =
      rails_output(VERSIONS + <<~RUBY, setup: APPLICATION + DATABASE.sub("pool=10", "pool=1&checkout_timeout=0.3"))
        Pelton.run do
          holder = Pelton.spawn { Post.lease_connection && sleep }
          sleep 0.05 until Post.connection_pool.stat[:busy] == 1
          puts post.cache_key_with_version, parsed.cache_version, own.cache_version
          holder.cancel
        end
      RUBY

    assert_equal ["posts/1-20240701123015250000", *["20240701123015250000"] * 2], output.lines(chomp: true)
  end

  def test_a_database_with_local_times_has_the_same_versions
    setup = APPLICATION + DATABASE.sub("pool=10", "pool=3&default_timezone=local")
    output =
      rails_output(VERSIONS +
        "puts Post.connection.select_value('SELECT updated_at FROM posts'), post.cache_version, own.cache_version",
        setup: setup, env: {"TZ" => "Asia/Tokyo"})

    assert_equal ["2024-07-01 21:30:15.250000", *["20240701123015250000"] * 2], output.lines(chomp: true)
  end

  def test_where_all_databases_have_local_times
    setup = APPLICATION + "ActiveRecord.default_timezone = :local\n" + DATABASE
    output = rails_output("#{VERSIONS}puts post.cache_version, own.cache_version", setup: setup,
      env: {"TZ" => "Asia/Tokyo"})

    assert_equal ["20240701123015250000"] * 2, output.lines(chomp: true)
  end
end
