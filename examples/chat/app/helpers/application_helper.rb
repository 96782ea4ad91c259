# frozen_string_literal: true

# Methods for all templates.
module ApplicationHelper
  def message_text(message) = raw(MessageText.html(message.text))

  def avatar(user)
    return tag(:span, user.initials, class: "avatar", "aria-hidden": "true") unless user.avatar
    tag(:img, class: "avatar", src: "/avatars/#{user.avatar}", alt: "", width: 36, height: 36, loading: "lazy")
  end

  def clock(time) = time.utc.strftime("%-d %b, %H:%M")

  # Marks the words in a text. Both are escaped.
  def highlight(text, words)
    return escape(text) if words.empty?
    parts = text.split(/(#{words.map { |word| Regexp.escape(word) }.join("|")})/i)
    safe_join(parts.each_with_index.map { |part, index| index.odd? ? tag(:mark, part) : part })
  end
end
