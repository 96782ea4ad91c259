# frozen_string_literal: true

# Creates the forum's tables and fills them.
require_relative "application"
require_relative "data"

module Forum
  NOW = Time.utc(2026)

  class << self
    # Unless another contender of the race has done so.
    def fill
      return if User.table_exists?
      ActiveRecord::Schema.verbose = false
      ActiveRecord::Schema.define do
        create_table(:users) do |table|
          table.string :name, null: false
          table.string :email, null: false
          table.boolean :admin, null: false, default: false
          table.timestamps
        end
      end
      Host.migrate("thredded")
      reset
      fill_users
      fill_topics
    end

    private

    # The classes were loaded before their tables were.
    def reset
      ActiveRecord::Base.descendants.each { |model| model.reset_column_information unless model.abstract_class? }
    end

    def times(minutes) = {created_at: NOW + minutes * 60, updated_at: NOW + minutes * 60}

    def fill_users
      User.insert_all((1..USERS).map { |id| {id: id, name: "User #{id}", email: "user#{id}@example.com", **times(id)} })
      Thredded::UserDetail.insert_all((1..USERS).map { |id| {user_id: id, moderation_state: 1, **times(id)} })
    end

    def fill_topics
      Thredded::Messageboard.insert_all((1..BOARDS).map { |id| board_row(id) })
      Thredded::Topic.insert_all((1..TOPICS).map { |id| topic_row(id) })
      Thredded::Post.insert_all((1..TOPICS).flat_map { |topic| (1..POSTS).map { |number| post_row(topic, number) } })
    end

    def board_row(id)
      {id: id, name: "Board #{id}", slug: "board-#{id}", description: "What board #{id} is about.", position: id,
       **counts(id), **times(id)}
    end

    def topic_row(id)
      {
        id: id, messageboard_id: board_of(id), title: title(id), slug: "topic-#{id}", hash_id: "topic#{id}",
        user_id: id, last_user_id: user_of(id, POSTS),
        posts_count: POSTS, moderation_state: 1, last_post_at: times(id * 100 + POSTS)[:created_at], **times(id * 100)
      }
    end

    def post_row(topic, number)
      {
        postable_id: topic, messageboard_id: board_of(topic), user_id: user_of(topic, number),
        content: post(topic, number), source: "web",
        moderation_state: 1, **times(topic * 100 + number)
      }
    end

    def user_of(topic, number) = (topic + number * 7) % USERS + 1

    def counts(board)
      topics = (1..TOPICS).select { |topic| board_of(topic) == board }
      {topics_count: topics.size, posts_count: topics.size * POSTS, last_topic_id: topics.last}
    end
  end
end

Forum.fill
ActiveRecord::Base.connection_handler.clear_all_connections!(:all) # SQLite leaves one file then
