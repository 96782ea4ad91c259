# frozen_string_literal: true

# A chat on Rails as one file, with the middleware, the log and the settings of a new application in production. Its
# views are in chat/, its data in chat.rb. RAILTIE is what the application's Gemfile would bring for its server.
require "action_controller/railtie"
require "active_record/railtie"
require "net/http"
require ENV["RAILTIE"] if ENV["RAILTIE"]

$stdout.sync = true # not all servers say so, and all shall write their log alike
# as a new application has it
ENV["DATABASE_URL"] =
  "#{ENV.fetch("DATABASE")}?pool=#{ENV.fetch("POOL")}#{"&timeout=5000" if ENV["DATABASE"].start_with?("sqlite3:")}"

class ChatApplication < Rails::Application
  config.load_defaults Rails::VERSION::STRING.to_f
  config.enable_reloading = false
  config.eager_load = true
  config.consider_all_requests_local = false
  config.secret_key_base = "0" * 64
  config.logger = ActiveSupport::TaggedLogging.new(ActiveSupport::Logger.new($stdout, formatter: Logger::Formatter.new))
  config.log_tags = [:request_id]
  config.log_level = :info
  config.active_support.isolation_level = :fiber if ENV["FIBERS"]
  config.cache_store =
    ENV["REDIS"] ? [:redis_cache_store, {url: ENV["REDIS"], pool: {size: Integer(ENV.fetch("POOL"))}}] : :memory_store

  routes.append do
    %w[hello names queries nap query upstream].each { |page| get "/#{page}", to: "plain##{page}" }
    resources :notes, only: :create
    resource :session, only: :create
    resource :sidebar, only: :show
    resource :search, only: :show
    resources(:rooms, only: :show) { resources :messages, only: :index }
  end
end

ChatApplication.initialize! # before its classes, as where they are files of their own

class Current < ActiveSupport::CurrentAttributes
  attribute :user
end

class User < ActiveRecord::Base
  has_many :memberships
  has_many :rooms, through: :memberships
end

class Room < ActiveRecord::Base
  has_many :memberships
  has_many :users, through: :memberships
  has_many :messages
end

class Membership < ActiveRecord::Base
  belongs_to :user
  belongs_to :room
end

class Message < ActiveRecord::Base
  belongs_to :user
  belongs_to :room, touch: true
  validates :body, presence: true

  scope :page, ->(before) { includes(:user).where(before && {id: ...before.to_i}).order(id: :desc).limit(100) }
end

class Note < ActiveRecord::Base; end

class ApplicationController < ActionController::Base
  prepend_view_path File.expand_path("chat", __dir__)
  helper { def avatar_path(user) = "/users/#{user.id}/avatar?v=#{user.updated_at.to_i}" }
end

# Pages that do one thing each, for everybody.
class PlainController < ApplicationController
  def hello = render(plain: "Hello World!")

  def names = render(plain: User.order(:id).limit(5).map(&:name).join("\n"))

  def queries
    user = User.find(7)
    render json: {name: user.name, rooms: user.rooms.order(:id).map(&:name), messages: Message.where(user: user).count}
  end

  def nap
    sleep 0.02
    render plain: "Hello World!"
  end

  def query = render(plain: User.find_by_sql(ENV.fetch("SLOW")).map(&:name).join("\n"))

  def upstream = render(plain: Net::HTTP.get(URI(ENV.fetch("UPSTREAM"))))
end

class NotesController < ApplicationController
  def create = render(plain: Note.create!(text: params.require(:text)).text, status: :created)
end

class SessionsController < ApplicationController
  skip_forgery_protection

  def create
    cookies.encrypted[:user_id] = {value: User.find(params[:user]).id, httponly: true}
    head :created
  end
end

# Pages of somebody who is signed in.
class SignedInController < ApplicationController
  before_action { (Current.user = User.find_by(id: cookies.encrypted[:user_id])) || head(:unauthorized) }

  private

  def room(id) = Current.user.rooms.find(id)
end

class RoomsController < SignedInController
  def show
    @room = room(params[:id])
    @messages = @room.messages.page(nil).reverse
  end
end

class MessagesController < SignedInController
  before_action { @room = room(params[:room_id]) }

  def index
    @messages = @room.messages.page(params[:before]).reverse
    render(layout: false) if stale?(@messages)
  end
end

class SidebarsController < SignedInController
  def show
    @memberships = Current.user.memberships.includes(:room).sort_by { |membership| membership.room.name }
    @people =
      User.where(id: Membership.where(room_id: @memberships.map(&:room_id)).select(:user_id)).order(:name).limit(20)
    render layout: false
  end
end

class SearchesController < SignedInController
  def show
    @query = params.require(:q)
    @messages = Message.where(room_id: Current.user.rooms.select(:id)).where("body LIKE ?",
      "%#{Message.sanitize_sql_like(@query)}%")
      .includes(:user, :room).order(id: :desc).limit(20)
  end
end

run Rails.application
