# frozen_string_literal: true

# The newest messages of a user's rooms that have all the words; the last one may be incomplete.
class MessageSearch
  WORDS = 8

  # @return [Array<String>] what is searched, of what was typed
  attr_reader :words

  def initialize(user, text)
    @user = user
    @words = text.scan(/[[:alnum:]]+/).first(WORDS)
  end

  def size = rows.size

  # @return [Array] changes with what is found
  def key = ["search", *@words, *rows.flatten]

  # @return [Array<Message>] newest first
  def messages = @messages ||= Message.where(id: rows.map(&:first)).order(id: :desc).includes(:user, :room).to_a

  private

  def rows = @rows ||= @words.empty? ? [] : found.where(room_id: @user.memberships.select(:room_id)).limit(Message::PAGE).pluck(Sequel[:messages][:id], Sequel.cast(Sequel[:messages][:updated_at], :text))

  def found
    return Message.where(Sequel.lit("words @@ to_tsquery('simple', ?)", "#{@words.join(" & ")}:*")).order(id: :desc) unless Message.db.database_type == :sqlite
    Message.joins("JOIN message_words ON message_words.rowid = messages.id").where("message_words MATCH ?", "#{@words.map { |word| "\"#{word}\"" }.join(" ")} *")
      .order(Sequel.desc(Sequel[:message_words][:rowid]))
  end
end
