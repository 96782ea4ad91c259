# frozen_string_literal: true

# A page of 40 messages, 28 KB, for one user among others, which several frameworks render.
module Messages
  Message = Struct.new(:id, :author, :text, :sent)

  WORDS =
    %w[the room is open until nine and we have ordered tea for all who wait so bring your own cup please see you there
      soon].freeze

  LIST = Random.new(14).then do |random|
    Array.new(40) do |id|
      Message.new(id, "User #{random.rand(1000)}",
        Array.new(55 + random.rand(30)) { WORDS.sample(random: random) }.join(" "),
        Time.at(1_700_000_000 + random.rand(1_000_000)).utc)
    end.freeze
  end

  HEAD =
    "<!doctype html>\n<html><head>" \
    "<title>Room</title>\n" \
    "#{Array.new(12) { |n| "<link rel=\"stylesheet\" href=\"/assets/part-#{n}-5f2c81d0a3b4c6e7.css\">\n" }.join}" \
    "</head>\n".freeze

  MESSAGE = <<~ERB
    <div class="message" id="message_<%= message.id %>" data-sent="<%= message.sent.to_i %>">
      <img class="avatar" src="/users/<%= message.id %>/avatar?v=<%= message.sent.to_i %>" alt="<%= message.author %>" width="48" height="48">
      <div class="message__body">
        <strong class="author"><%= message.author %></strong> <time datetime="<%= message.sent.strftime("%FT%TZ") %>"><%= message.sent.strftime("%H:%M") %></time>
        <p><%= message.text %></p>
        <a class="reply" href="/messages/<%= message.id %>/replies/new">Reply</a>
      </div>
    </div>
  ERB

  # The finished page.
  def self.page(user)
    require "erb"
    message = ERB.new(MESSAGE)
    "#{HEAD}<body><p>signed in as #{user}</p>\n" \
    "#{LIST.map { |one| message.result_with_hash(message: one) }.join}</body></html>\n"
  end

  # Whether a page is complete.
  def self.right?(page, user)
    LIST.all? { |message| page.include?(message.text) } && page.include?("signed in as #{user}") &&
      page.end_with?("</html>\n")
  end
end
