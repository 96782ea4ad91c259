# frozen_string_literal: true

# An application on Pelton::Web: a constant text, as one of ROUTES routes; the page of messages, with its fragments
# cached if FRAGMENTS is set.
require "fileutils"
require "pelton/web"
require "tmpdir"
require_relative "messages"

VIEWS = Dir.mktmpdir.tap { |folder| at_exit { FileUtils.rm_rf(folder) } }
FileUtils.mkdir(File.join(VIEWS, "lab_messages"))
{
  "_message" => Messages::MESSAGE,
  "_user" => "<body><p>signed in as <%= user %></p>\n",
  "index" => "<%== Messages::HEAD %><%= render \"user\", user: @user %>" \
    "<%= render partial: \"message\", collection: Messages::LIST %></body></html>\n",
  "cached" => <<~ERB
    <% cache "head" do %><%== Messages::HEAD %><% end %><%= render "user", user: @user %>
    <% Messages::LIST.each do |message| %><% cache [message.id, message.sent.to_i] do %><%= render "message", message: message %><% end %><% end %></body></html>
  ERB
}.each { |name, text| File.write(File.join(VIEWS, "lab_messages/#{name}.html.erb"), text) }

class LabMessagesController < Pelton::Web::Controller
  PAGE = ENV["FRAGMENTS"] ? "cached" : "index"

  before_action { @user = cookies[:user] || "nobody" }

  def index = render(PAGE)

  # Its version is known before it is made.
  def versioned
    index if stale?([@user, Messages::LIST.size, Messages::LIST.last.sent], public: false)
  end
end

class Lab < Pelton::Web::Application
  settings.root = __dir__
  settings.secrets = [] # no sessions
  settings.views = [VIEWS]
  routes do
    get("/") { "Hello World!" }
    get "/messages", to: "lab_messages#index"
    get "/messages/versioned", to: "lab_messages#versioned"
    (Integer(ENV.fetch("ROUTES", 5)) - 3).times { |n| get("/things/#{n}/:id") { "Hello World!" } }
  end
end

run Lab.boot!
