# frozen_string_literal: true

# The same text and page on Roda with erubi, compressed by Rack's middleware.
require "rack/deflater"
require "rack/etag"
require "rack/conditional_get"
require "roda"
require "tilt/erubi"
require "tmpdir"
require_relative "messages"

VIEWS = Dir.mktmpdir.tap { |folder| at_exit { FileUtils.rm_rf(folder) } }
File.write(File.join(VIEWS, "message.erb"), Messages::MESSAGE)
File.write(File.join(VIEWS, "room.erb"), <<~ERB)
  <%== Messages::HEAD %><body><p>signed in as <%= user %></p>
  <% Messages::LIST.each do |message| %><%== render("message", locals: {message: message}) %><% end %></body></html>
ERB

class Room < Roda
  plugin :render, views: VIEWS, escape: true
  use Rack::Deflater
  use Rack::ConditionalGet
  use Rack::ETag

  route do |r|
    r.root { "Hello World!" }
    r.get("messages") { render("room", locals: {user: request.cookies["user"] || "nobody"}) }
  end
end

run Room.freeze.app
