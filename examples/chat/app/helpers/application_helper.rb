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
    html, text = +"", text.unicode_normalize(:nfd)
    until text.empty?
      before, match, text = text.partition(pattern)
      html << escape(before)
      html << "<mark>" << escape(match) << "</mark>" unless match.empty?
    end
    raw(html.unicode_normalize(:nfc))
  end
end
