# frozen_string_literal: true

# The chat on Roda, Sequel and erubi. On Pelton (PIECES) its fragments are those of the plugin pelton_fragments.
require_relative "data"
require "rack/deflater"
require "rack/etag"
require "rack/conditional_get"
require "roda"

class ChatPages < Roda
  include Pages

  plugin :render, views: File.expand_path("views", __dir__), layout: false
  plugin :sessions, secret: "0" * 64
  plugin :sec_fetch_site_csrf
  plugin :typecast_params
  plugin :halt
  if ENV["PIECES"]
    plugin :pelton_fragments
    # It keeps them compressed.
    def pieces(key, &block) = fragment(key.flatten.map { |part| part.nil? ? "" : part }, &block)

    def kept(key, &block) = (ChatText::MODE == :none) ? yield : pieces(key, &block)

    def finished(key, &block) = (ChatText::MODE == :pages) ? pieces(key, &block) : yield
  end
  use Rack::Deflater, include: %w[text/html] unless ENV["PIECES"] && ChatText::MODE != :none
  use Rack::ConditionalGet
  use Rack::ETag

  def partial(name, **locals) = render(name, locals: locals)

  route do |r|
    check_sec_fetch_site!
    r.post("sign_in") do
      user = User.first!(email: r.params.dig("sign_in", "email"))
      session["sign_in"] = user.sign_in
      r.redirect "/", 303
    end
    user = User.signed_in(*session["sign_in"]) or r.halt(401)

    r.on "rooms", Integer do |id|
      room = Room.of(user, id)
      before = typecast_params.int("before")
      r.get(true) { page_of_room(user, room, before) }
      r.is "messages" do
        r.get { finished(["messages", room.id, room.version, before]) { messages_of(room, before) } }
        r.post do
          form = r.params["message"]
          message = Message.post(room, user, form["text"].strip, form["client_id"])
          announce(room, message)
          response.status = 201
          response["content-type"] = "application/json"
          JSON.generate({id: message.id})
        end
      end
    end
    r.get("sidebar") { finished(["sidebar page", *sidebar_key(user)]) { sidebar_of(user) } }
    r.get("search") { page_of_search(user, typecast_params.str("q", "")) }
  end
end

run ChatPages.freeze.app
