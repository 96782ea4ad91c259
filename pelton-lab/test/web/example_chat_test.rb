# frozen_string_literal: true

require "test_helper"
require "pelton/lab"
require "pelton/lab/web/example_chat"

class LabExampleChatTest < PeltonTest
  ExampleChat = Pelton::Lab::ExampleChat

  def test_looks_for_acknowledged_posts
    Dir.mktmpdir do |folder|
      path = File.join(folder, "chat.sqlite3")
      ExampleChat.connect(path) do |database|
        database.create_table(:messages) do
          %i[id user_id room_id].each { |name| Integer(name) }.then { String(:client_id) }
        end
        [[1, 7, 1, "a"], [2, 7, 1, "b"], [3, 8, 1, "c"], [4, 7, 1, "twice"], [5, 7, 1, "twice"]].each do |row|
          database[:messages].insert(row)
        end
      end

      assert_equal 0, ExampleChat.lost(path, {"a" => [7, 1, 1], "c" => [8, 1, 3]})
      assert_equal 4, ExampleChat.lost(path,
        {"a" => [7, 1, 1], "b" => [8, 1, 2], "c" => [8, 2, 3], "d" => [7, 1, 6], "twice" => [7, 1, 4]})
    end
  end

  def test_users_who_are_no_administrators
    Dir.mktmpdir do |folder|
      path = File.join(folder, "chat.sqlite3")
      ExampleChat.connect(path) do |database|
        database.create_table(:users) { Integer(:id).then { String(:name) } }
        %w[Root Ann Bob Cy].each.with_index(1) { |name, id| database[:users].insert(id: id, name: name) }
      end

      assert_equal({2 => "Ann", 3 => "Bob"}, ExampleChat.users(path, 2))
    end
  end

  def test_every_server_gets_the_copy_and_the_mode
    ExampleChat.ways.each_value do |way|
      environment = ExampleChat.environment(way, "/x/chat.sqlite3", "pages")

      assert_equal ["pages", ExampleChat::FOLDER], environment.values_at("CHAT_CACHE", "CHAT")
      assert_match(%r{/x/chat\.sqlite3\z}, environment.values_at("DATABASE", "DATABASE_URL").compact.first)
      assert File.exist?(way.command.call(1, "/x").grep(/example_chat/).first)
    end
  end
end
