# frozen_string_literal: true

# The chat's data by Sequel, for the applications on Roda and Sinatra.
require "digest"
require "json"
require "securerandom"
require "sequel"
require_relative "chat_text"

Sequel.default_timezone = :utc
# With the gem sqlite3, who waits for SQLite's lock lets other threads run.
PATIENT = lambda do |connection|
  connection.execute("PRAGMA synchronous = NORMAL")
  connection.busy_handler { |count| sleep(0.001) && count < 5_000 }
end
DB = Sequel.connect(adapter: ENV.fetch("ADAPTER"), database: ENV.fetch("DATABASE"),
  max_connections: Integer(ENV.fetch("POOL")), timeout: 5000,
  after_connect: (PATIENT if ENV["ADAPTER"] == "sqlite"))

class Reaction < Sequel::Model; end

class Attachment < Sequel::Model; end

class User < Sequel::Model
  # @return [User, nil] of a sign-in whose number and token a session has
  def self.signed_in(id, token)
    device = id && DB[:sign_ins].first(id: id)
    self[device[:user_id]] if device && device[:token_digest] == Digest::SHA256.hexdigest(token)
  end

  # @return [Array] number and token of a new sign-in
  def sign_in
    token = SecureRandom.urlsafe_base64(32)
    now = Time.now
    [DB[:sign_ins].insert(user_id: id, token_digest: Digest::SHA256.hexdigest(token), rotated_at: now,
      created_at: now, updated_at: now), token]
  end

  def entries
    @entries ||= begin
      rows = DB[:memberships].join(:rooms, id: :room_id).where(user_id: id).select_map([Sequel[:rooms][:id],
        Sequel[:rooms][:name], :kind, :last_message_id, :read_message_id])
      names = names_of(rows.select { |row| row[2] == 2 }.map(&:first))
      rows.map { |room, title, kind, last, read| [room, title || names.fetch(room, name), kind, last > read] }
        .sort_by { |room, title, *| [title.downcase, room] }
    end
  end

  private

  def names_of(rooms)
    return {} if rooms.empty?
    DB[:memberships].join(:users, id: :user_id).where(room_id: rooms).exclude(user_id: id)
      .order(Sequel[:memberships][:id])
      .select_map([:room_id, Sequel[:users][:name]]).group_by(&:first).transform_values do |found|
        found.map(&:last).join(", ")
      end
  end
end

class Room < Sequel::Model
  def self.of(user, id) = where(id: DB[:memberships].where(user_id: user.id).select(:room_id)).with_pk!(id)
end

class Message < Sequel::Model
  many_to_one :user
  many_to_one :room
  one_to_many :reactions, order: :id
  one_to_one :attachment

  class << self
    # @return [Array] the first message's number, if there are older ones, and the page's numbers in groups, each with
    #   what changes with it
    def page(room, before)
      rows = where(room_id: room.id).order(Sequel.desc(:id)).limit(ChatText::PAGE + 1)
      rows = rows.where { id < before } if before
      rows = rows.select_map([:id, :updated_at]).reverse
      shown = rows.last(ChatText::PAGE)
      [
        (shown.first.first if rows.size > ChatText::PAGE),
        shown.slice_before { |id, _| (id % ChatText::GROUP).zero? }.to_a
      ]
    end

    def with_all(ids) = where(id: ids).order(:id).eager(:user, :reactions, :attachment).all

    # @return [Array] number of each, with what changes with it
    def search(user, words)
      return [] if ChatText.words(words).empty?
      join(Sequel.lit("message_words ON message_words.rowid = messages.id")).where(Sequel.lit("message_words MATCH ?",
        ChatText.match(words)))
        .where(room_id: DB[:memberships].where(user_id: user.id).select(:room_id))
        .order(Sequel.lit("message_words.rowid DESC")).limit(ChatText::PAGE)
        .select_map([Sequel[:messages][:id], Sequel[:messages][:updated_at]])
    end

    def found(rows) = where(id: rows.map(&:first)).reverse(:id).eager(:user, :room).all

    def post(room, user, text, client_id)
      now = Time.now
      DB.transaction(mode: :immediate) do
        message =
          create(room_id: room.id, user_id: user.id, text: text, client_id: client_id, created_at: now, updated_at: now)
        DB[:rooms].where(id: room.id).update(version: Sequel[:version] + 1, last_message_id: message.id)
        read(room, user, message.id)
        message
      end
    end

    def read(room, user, id)
      DB[:memberships].where(room_id: room.id, user_id: user.id).where { read_message_id < id }
        .update(read_message_id: id)
    end
  end
end

# Who listens in this process, as the connections of a WebSocket or server-sent events.
module Live
  LISTENERS = Hash.new { |hash, stream| hash[stream] = [] }

  def self.publish(stream, message)
    text = JSON.generate(message)
    LISTENERS[stream].each { |listener| listener << text } if LISTENERS.key?(stream)
  end
end

# Fragments in the memory of the process; the oldest one goes. Threads share it.
class Kept
  def initialize(limit) = (@limit, @kept, @lock = limit, {}, Mutex.new)

  def fetch(key)
    @lock.synchronize { (found = @kept.delete(key)) ? (return @kept[key] = found) : nil }
    value = yield
    @lock.synchronize do
      @kept.shift if @kept.size >= @limit
      @kept[key] = value
    end
  end
end
KEPT = Kept.new(2_000)

# What the templates and the routes of both frameworks use. They bring `partial(name, **locals)`.
module Pages
  def h(text) = CGI.escapeHTML(text.to_s)

  def kept(key, &block) = (ChatText::MODE == :none) ? yield : KEPT.fetch(key, &block)

  # A whole page, or a fragment as a response.
  def finished(key, &block) = (ChatText::MODE == :pages) ? KEPT.fetch(key, &block) : yield

  def sidebar_key(user) = ["sidebar", user.id, user.updated_at, user.entries]

  def messages_of(room, before)
    older, groups = Message.page(room, before)
    all = nil # is read if a fragment is missing
    list = groups.map do |rows|
      kept(["messages", *rows]) do
        all ||= Message.with_all(groups.flatten(1).map(&:first)).to_h { |message| [message.id, message] }
        rows.map { |id, _| partial("message", message: all.fetch(id)) }.join
      end
    end
    partial("list", older: older, list: list, room: room)
  end

  def sidebar_of(user) = kept(sidebar_key(user)) { partial("sidebar", user: user) } + partial("sign_out")

  def page_of_room(user, room, before)
    Message.read(room, user, room.last_message_id) if user.entries.assoc(room.id)&.last
    title = room.name || user.entries.assoc(room.id)[1]
    finished(["room", room.id, room.version, title, before, user.updated_at, *sidebar_key(user)]) do
      partial("layout", user: user, title: title, words: nil,
        content: partial("room", user: user, room: room, title: title, before: before,
          messages: messages_of(room, before)))
    end
  end

  def page_of_search(user, words)
    rows = Message.search(user, words)
    results = kept(["search", words, *rows]) { partial("results", words: words, messages: Message.found(rows)) }
    partial("layout", user: user, title: "Search", words: words,
      content: partial("search", words: words, size: rows.size, results: results))
  end

  def announce(room, message)
    Live.publish("room:#{room.id}",
      {type: "message", id: message.id, client_id: message.client_id, html: partial("message", message: message)})
    Live.publish("news:#{room.id}", {type: "news", room: room.id, message: message.id})
  end
end
