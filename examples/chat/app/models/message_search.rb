# frozen_string_literal: true

# The newest messages of a user's rooms that have all the words; the last one may be incomplete.
class MessageSearch
  WORDS = 8
  # As in MessageList.
  VERSION = [Sequel[:messages][:id], Sequel.cast(Sequel[:messages][:updated_at], String).as(:version)].freeze
  private_constant :VERSION

  # @return [Array<String>] what is searched, of what was typed
  attr_reader :words

  def initialize(user, text)
    @user = user
    @words = text.scan(/[[:alnum:]]+/).first(WORDS)
  end

  # @return [Regexp] matches the words, with any accents. One that is nothing but an accent matches nowhere
  def pattern
    @pattern ||= begin
      letters = @words.map { |word| word.unicode_normalize(:nfd).scan(/\P{Mn}/) }.reject(&:empty?)
      /#{letters.map { |word| word.map { |letter| "#{Regexp.escape(letter)}\\p{Mn}*" }.join }.join("|")}/i
    end
  end

  def size = rows.size

  # @return [Array] changes with what is found
  def key = ["search", *@words, *rows.flatten]

  # @return [Array<Message>] newest first
  def messages = @messages ||= Message.where(id: rows.map(&:first)).reverse(:id).eager(:user, :room).all

  private

  def rows
    return [] if @words.empty?
    @rows ||= found.where(room_id: @user.memberships_dataset.select(:room_id)).limit(Message::PAGE).select_map(VERSION)
  end

  def found
    if Message.db.database_type == :postgres
      words = @words.map { |word| word.unicode_normalize(:nfd).gsub(/[\u0300-\u036f]/, "") }.reject(&:empty?)
      return Message.dataset.full_text_search(:words, "#{words.join(" & ")}:*", tsvector: true).reverse(:id)
    end
    words = @words.map { |word| "\"#{word}\"" }.join(" ")
    Message.join(:message_words, rowid: :id).where(Sequel.lit("message_words MATCH ?", "#{words} *"))
      .reverse(Sequel[:message_words][:rowid])
  end
end
