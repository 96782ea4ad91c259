# frozen_string_literal: true

require "test_helper"
require "json"
require "pelton/lab/web/example_chat"

# In a process of its own, whose models are those of the pages on Roda and Sinatra, on the chat's tables.
class LabChatDataTest < PeltonTest
  FILE = Pelton::Lab::WebPrograms.application("example_chat/data", "rb")
  CHAT = Pelton::Lab::ExampleChat
  SETUP = <<~RUBY
    now = Time.now
    ann, bob = %w[Ann Bob].map do |name|
      User.create(name: name, name_key: name, handle: name, email: name, password_digest: "x",
        created_at: now, updated_at: now)
    end
    room, other = %w[Room other].map { |name| Room.create(name: name, created_at: now, updated_at: now) }
    [room, other].each do |one|
      DB[:memberships].insert(room_id: one.id, user_id: ann.id, created_at: now, updated_at: now)
    end
  RUBY

  def setup
    require "extralite"
    Extralite::Database.new(":memory:").execute("CREATE VIRTUAL TABLE words USING fts5(text)")
  rescue Extralite::SQLError
    skip "SQLite is compiled without full-text search"
  end

  def test_a_page_and_its_groups
    older, groups =
      run_there("45.times { |n| Message.post(room, ann, 'tea', n.to_s) }; older, groups = Message.page(room, nil); " \
        "[older, groups.map { |rows| rows.map(&:first) }]")

    assert_equal 6, older
    assert_equal [*6..45], groups.flatten
    assert_equal [6, 8, 16, 24, 32, 40], groups.map(&:first)
    assert_equal [nil, [*1..9]],
      run_there("9.times { |n| Message.post(room, ann, 'tea', n.to_s) }; older, groups = Message.page(room, 10); " \
        "[older, groups.flatten(1).map(&:first)]")
  end

  def test_a_post_is_read_by_its_author_and_found_by_members
    posted =
      "Message.post(room, ann, 'tea shop', 'a'); User[ann.id].entries.map { |entry| entry.values_at(1, 3) } + " \
      "[Room[room.id].version, Message.search(ann, 'sho').size, Message.search(bob, 'tea').size]"

    assert_equal [["other", false], ["Room", false], 1, 1, 0], run_there(posted)
    assert_equal [["other", false], ["Room", true]],
      run_there(
        "DB[:rooms].where(id: room.id).update(last_message_id: 1); ann.entries.map { |entry| entry.values_at(1, 3) }"
      )
  end

  def test_a_sign_in
    assert_equal ["Ann", nil, nil],
      run_there(
        "id, token = ann.sign_in; [User.signed_in(id, token).name, User.signed_in(id, 'x'), User.signed_in(nil, nil)]"
      )
  end

  def test_kept_fragments_go_when_there_are_too_many
    assert_equal [1, 2, 1, 3, 4],
      run_there("kept, made = Kept.new(2), 0; %w[a b a c b].map { |key| kept.fetch(key) { made += 1 } }")
  end

  private

  def run_there(expression)
    Dir.mktmpdir do |folder|
      Sequel.extension(:migration)
      CHAT.connect(path = File.join(folder, "chat.sqlite3")) do |database|
        Sequel::Migrator.run(database, File.join(CHAT::FOLDER, "db/migrate"))
      end
      environment = {"CHAT" => CHAT::FOLDER, "ADAPTER" => "pelton_sqlite", "DATABASE" => path, "POOL" => "1"}
      said = command_output(RbConfig.ruby, "-I", Pelton::Lab::Installation::LIBRARIES, "-r", FILE, "-e",
        "#{SETUP}\nprint JSON.generate(begin #{expression} end)", env: environment)
      JSON.parse(said)
    end
  end
end
