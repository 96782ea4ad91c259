# frozen_string_literal: true

# The newest messages of a user's rooms that have all the words; the last one may be incomplete.
class MessageSearch
  WORDS = 8

  OWN = "room_id IN (SELECT room_id FROM memberships WHERE user_id = ?)"
  SQLITE = "SELECT id, CAST(updated_at AS text) AS version FROM message_words JOIN messages ON id = message_words.rowid WHERE message_words MATCH ? AND #{OWN} ORDER BY message_words.rowid DESC LIMIT ?"
  POSTGRES = "SELECT id, CAST(updated_at AS text) AS version FROM messages WHERE words @@ to_tsquery('simple', ?) AND #{OWN} ORDER BY id DESC LIMIT ?"
  private_constant :OWN, :SQLITE, :POSTGRES

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
  def messages = @messages ||= Message.where(id: rows.map(&:first)).order(id: :desc).includes(:user, :room).to_a

  private

  def rows
    return [] if @words.empty?
    @rows ||= Message.db.fetch(*query, @user.id, Message::PAGE).map(&:values)
  end

  def query
    return [SQLITE, "#{@words.map { |word| "\"#{word}\"" }.join(" ")} *"] if Message.db.database_type == :sqlite
    [POSTGRES, "#{@words.join(" & ")}:*"]
  end
end
