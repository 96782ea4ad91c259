# frozen_string_literal: true

# The chat on Sinatra, Sequel and erubi.
require_relative "data"
require "erubi"
require "rack/deflater"
require "rack/etag"
require "rack/conditional_get"
require "sinatra/base"
require "tilt/erubi"

class ChatPages < Sinatra::Base
  set :views, File.expand_path("views", __dir__)
  set :erb, layout: false, trim: false
  set :sessions, same_site: :lax
  set :session_secret, "0" * 64
  set :host_authorization, {permitted_hosts: []}
  disable :static, :logging
  use Rack::Deflater, include: %w[text/html]
  use Rack::ConditionalGet
  use Rack::ETag

  helpers Pages
  helpers { def partial(name, **locals) = erb(name.to_sym, locals: locals) }

  before do
    pass if request.path == "/sign_in"
    @user = User.signed_in(*session[:sign_in]) or halt(401)
  end

  post("/sign_in") do
    session[:sign_in] = User.first!(email: params[:sign_in][:email]).sign_in
    redirect "/", 303
  end
  get("/rooms/:id") { page_of_room(@user, room(:id), before) }
  get "/rooms/:room_id/messages" do
    room = room(:room_id)
    finished(["messages", room.id, room.version, before]) { messages_of(room, before) }
  end
  post "/rooms/:room_id/messages" do
    message = Message.post(room(:room_id), @user, params[:message][:text].strip, params[:message][:client_id])
    announce(message.room, message)
    content_type :json
    [201, JSON.generate({id: message.id})]
  end
  get("/sidebar") { finished(["sidebar page", *sidebar_key(@user)]) { sidebar_of(@user) } }
  get("/search") { page_of_search(@user, params[:q].to_s) }

  private

  def room(name) = Room.of(@user, Integer(params[name]))

  def before = params[:before] && Integer(params[:before])
end

run ChatPages
