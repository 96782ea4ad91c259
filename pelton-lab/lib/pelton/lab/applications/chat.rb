# frozen_string_literal: true

require "json"
require_relative "messages"

# The data of the chat (chat.ru), and what its pages must show.
module Chat
  USERS = 200
  ROOMS = 10
  MESSAGES = 3_000 # in all rooms
  NAMES = (1..USERS).map { |id| "User #{id}" }.freeze
  SEARCHED = "lighthouse" # a word of every 39th message

  class << self
    # Makes the tables and fills them, unless another contender of the race has done so.
    # @param database [Sequel::Database]
    def fill(database)
      return if database.table_exists?(:notes)
      create_tables(database)
      rows(1..USERS) { |id| {id: id, name: NAMES[id - 1]} }.each_slice(500) do |some|
        database[:users].multi_insert(some)
      end
      database[:rooms].multi_insert(rows(1..ROOMS) { |id| {id: id, name: "Room #{id}"} })
      memberships.each_slice(500) { |some| database[:memberships].multi_insert(some) }
      rows(1..MESSAGES) { |id| {room_id: room_of(id), user_id: id * 7 % USERS + 1, body: body(id)} }
        .each_slice(500) { |some| database[:messages].multi_insert(some) }
      database.create_table(:notes) { primary_key :id; String :text } # rubocop:disable Style/Semicolon
    end

    # Whether a page of the user with the number 1 has what it must have.
    # @param path [String]
    # @param body [String]
    def right?(path, body)
      case path
      when "/names", "/query" then body == NAMES.first(5).join("\n")
      when "/queries" then JSON.parse(body) == {"name" => NAMES[6], "rooms" => rooms_of(7).map { |id| "Room #{id}" },
        "messages" => MESSAGES / USERS}
      when "/rooms/1" then whole?(body) && shows?(body, last(100)) && body.scan('rel="stylesheet"').size == 12
      when %r{\A/rooms/1/messages\?before=(\d+)} then shows?(body,
        last(100, before: Integer($1))) && !body.include?("<html")
      when "/sidebar"
        body.scan(%r{<a class="overflow-ellipsis" href="/rooms/(\d+)">}).flatten.map(&:to_i) ==
          rooms_of(1).sort_by(&:to_s) && body.scan("<img").size == 20
      when %r{\A/search} then whole?(body) && body.scan("<mark>#{SEARCHED}</mark>").size == 20
      else body == "Hello World!"
      end
    end

    # The text of a message.
    def body(id)
      random = Random.new(id)
      words = Array.new(40 + random.rand(30)) { Messages::WORDS.sample(random: random) }
      words[20] = SEARCHED if (id % 39).zero?
      "#{id}: #{words.join(" ")}"
    end

    private

    def create_tables(database)
      times = ->(table) { %i[created_at updated_at].each { |name| table.DateTime(name, null: false) } }
      database.create_table(:users) do
        primary_key :id
        String :name
        times.call(self)
      end
      database.create_table(:rooms) do
        primary_key :id
        String :name
        times.call(self)
      end
      database.create_table :memberships do
        primary_key :id
        Integer :user_id, index: true
        Integer :room_id, index: true
        TrueClass :unread
        times.call(self)
      end
      database.create_table :messages do
        primary_key :id
        Integer :room_id
        Integer :user_id, index: true
        String :body, text: true
        times.call(self)
        index %i[room_id id]
      end
    end

    def rows(ids)
      ids.map do |id|
        time = (Time.utc(2024) + id * 60).strftime("%F %T")
        {**yield(id), created_at: time, updated_at: time}
      end
    end

    # Everybody is in the first three rooms, and in every other one of the rest.
    def rooms_of(user) = (1..ROOMS).select { |room| room <= 3 || (user + room).even? }

    def memberships
      pairs = (1..USERS).flat_map { |user| rooms_of(user).map { |room| [user, room] } }
      rows(0...pairs.size) { |n| {user_id: pairs[n][0], room_id: pairs[n][1], unread: (n % 3).zero?} }
    end

    def room_of(message) = message % ROOMS + 1

    # The numbers of the last messages of room 1.
    def last(number, before: MESSAGES + 1) = (1...before).select { |id| room_of(id) == 1 }.last(number)

    def shows?(page, ids) = page.scan('class="message"').size == ids.size && ids.all? { |id| page.include?(body(id)) }

    def whole?(page) = page.include?("signed in as #{NAMES[0]}\n") && page.rstrip.end_with?("</html>")
  end
end
