# frozen_string_literal: true

require "test_helper"
require "sequel"
require "tmpdir"
require "pelton/lab/applications/chat"

# The data alone; the application is served by test/integration/lab_applications_test.rb.
class LabChatTest < PeltonTest
  def test_a_database_is_filled_once
    Dir.mktmpdir do |folder|
      2.times { Sequel.connect("extralite:#{folder}/chat.db") { |database| Chat.fill(database) } }
      Sequel.connect("extralite:#{folder}/chat.db") do |database|
        assert_equal [Chat::USERS, Chat::ROOMS, Chat::MESSAGES, 0],
          %i[users rooms messages notes].map { |table| database[table].count }
        assert_equal [1, 2, 3, 5, 7, 9], database[:memberships].where(user_id: 1).order(:room_id).select_map(:room_id)
        assert_equal Chat::MESSAGES / Chat::USERS, database[:messages].where(user_id: 7).count
        assert_equal Chat.body(2991), database[:messages].where(room_id: 2).order(:id).last[:body]
        assert_operator database[:messages].where(room_id: [1, 2, 3, 5, 7, 9])
          .where(Sequel.like(:body, "%#{Chat::SEARCHED}%")).count,
          :>, 20
      end
    end
  end

  def test_plain_pages
    assert Chat.right?("/hello", "Hello World!")
    refute Chat.right?("/hello", "Hello")
    assert Chat.right?("/names", "User 1\nUser 2\nUser 3\nUser 4\nUser 5")
    refute Chat.right?("/names", "User 1\nUser 2\nUser 3\nUser 4")
    assert Chat.right?("/queries",
      '{"name":"User 7","rooms":["Room 1","Room 2","Room 3","Room 5","Room 7","Room 9"],"messages":15}')
    refute Chat.right?("/queries", '{"name":"User 7","rooms":[],"messages":15}')
  end

  def test_a_page_of_messages_has_the_hundred_before_one
    ids = (1..2000).select { |id| id % Chat::ROOMS == 0 }.last(100)
    page = ids.map { |id| "<div class=\"message\">#{Chat.body(id)}</div>" }.join

    assert Chat.right?("/rooms/1/messages?before=2001", page)
    refute Chat.right?("/rooms/1/messages?before=2001", page.sub(Chat.body(ids[50]), ""))
    refute Chat.right?("/rooms/1/messages?before=2011", page)
  end

  def test_a_room_is_whole_and_of_the_visitor
    messages =
      (1..Chat::MESSAGES).select { |id| id % Chat::ROOMS == 0 }.last(100)
        .map { |id| "<div class=\"message\">#{Chat.body(id)}</div>" }.join
    page = "<html>#{'<link rel="stylesheet">' * 12}signed in as User 1\n#{messages}</html>\n"

    assert Chat.right?("/rooms/1", page)
    refute Chat.right?("/rooms/1", page.sub("User 1\n", "User 2\n"))
    refute Chat.right?("/rooms/1", page[0...-9])
  end
end
