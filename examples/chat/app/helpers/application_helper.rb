# frozen_string_literal: true

# Methods for all templates.
module ApplicationHelper
  def message_text(message) = raw(MessageText.html(message.text))

  def avatar(user)
    return tag(:span, user.initials, class: "avatar", "aria-hidden": "true") unless user.avatar
    tag(:img, class: "avatar", src: "/avatars/#{user.avatar}", alt: "", width: 36, height: 36, loading: "lazy")
  end

  def clock(time) = time.utc.strftime("%-d %b, %H:%M")

  # Marks what matches in a text, which is escaped. Accents are characters for the pattern.
  def highlight(text, pattern)
    parts = text.unicode_normalize(:nfd).split(/(#{pattern})/).map { |part| part.unicode_normalize(:nfc) }
    safe_join(parts.each_with_index.map { |part, index| index.odd? ? tag(:mark, part) : part })
  end
end
