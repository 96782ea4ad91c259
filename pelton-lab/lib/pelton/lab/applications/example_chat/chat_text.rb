# frozen_string_literal: true

# What the pages of the chat's peers share with the chat: its own conversion of a message's text to HTML, and plain Ruby
# for the rest.
require "cgi/escape"

require File.join(ENV.fetch("CHAT"), "app/models/message_text")

module ChatText
  PAGE = 40 # messages
  GROUP = 8 # so many messages in a row, on average, are kept as one fragment
  REACTIONS = "👍 ❤️ 😂 🎉 👀 🙏"
  MODE = ENV.fetch("CHAT_CACHE", "fragments").to_sym

  module_function

  def words(text) = text.scan(/[[:alnum:]]+/).first(8)

  # The query of SQLite's FTS5. The last word may be incomplete.
  def match(text) = "#{words(text).map { |word| "\"#{word}\"" }.join(" ")} *"

  def initials(name) = name.split.values_at(0, -1).uniq.map { |word| word[0] }.join.upcase

  def clock(time) = time.utc.strftime("%-d %b, %H:%M")

  # Marks the words in a text, which is cut and escaped.
  def highlight(text, query)
    text = "#{text[0, 299]}…" if text.length > 300
    parts = text.split(/(#{words(query).map { |word| Regexp.escape(word) }.join("|")})/i)
    parts.each_with_index
      .map { |part, index| index.odd? ? "<mark>#{CGI.escapeHTML(part)}</mark>" : CGI.escapeHTML(part) }.join
  end
end
