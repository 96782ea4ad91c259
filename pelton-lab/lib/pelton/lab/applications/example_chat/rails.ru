# frozen_string_literal: true

# The chat on Rails as one file, with the settings of a new application in production, and Rack's compression. RAILTIE
# is what the application's Gemfile would bring for its server.
require "action_controller/railtie"
require "active_record/railtie"
require "action_cable/engine"
require "rack/deflater"
require ENV["RAILTIE"] if ENV["RAILTIE"]
require_relative "chat_text"

# A transaction takes the lock at its beginning, as in Rails 8: one that has read cannot wait for it.
ENV["DATABASE_URL"] =
  "#{ENV.fetch("DATABASE")}?pool=#{ENV.fetch("POOL")}&timeout=5000&default_transaction_mode=immediate"

# As Rails 8 and the gem activerecord-enhancedsqlite3-adapter: who waits for SQLite's lock lets other threads run.
module PatientConnection
  def configure_connection
    super
    @raw_connection.busy_handler { |count| sleep(0.001) && count < 5_000 }
  end
end

unless ENV["RAILTIE"]
  require "active_record/connection_adapters/sqlite3_adapter"
  ActiveRecord::ConnectionAdapters::SQLite3Adapter.prepend(PatientConnection)
end

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
  config.cache_store = :memory_store, {size: 64 << 20}
  config.action_controller.perform_caching = ChatText::MODE != :none
  config.action_cable.cable = {"adapter" => "async"}
  config.action_cable.mount_path = "/cable"
  config.middleware.insert_before 0, Rack::Deflater, include: %w[text/html]

  routes.append do
    resource :sign_in, only: [:create, :destroy]
    resource :sidebar, only: :show
    resource :search, only: :show
    resource :account, only: :edit
    resources :directs, only: :new
    namespace(:admin) { resources :users, only: :index }
    resources :rooms do
      resources :messages, only: [:index, :show, :create]
      resources :memberships, only: :destroy
    end
  end
end

ChatApplication.initialize! # before its classes, as where they are files of their own

class Current < ActiveSupport::CurrentAttributes
  attribute :user
end

class ApplicationRecord < ActiveRecord::Base
  self.abstract_class = true
end

class User < ApplicationRecord
  has_many :sign_ins
  has_many :memberships
  has_many :rooms, through: :memberships
  enum :role, [:member, :admin, :bot]

  def initials = ChatText.initials(name)
end

class SignIn < ApplicationRecord
  belongs_to :user

  before_create { self.rotated_at = Time.current }

  attr_reader :token

  def token=(token)
    @token = token
    self.token_digest = Digest::SHA256.hexdigest(token)
  end

  def self.resume(id, token) = find_by(id: id, token_digest: Digest::SHA256.hexdigest(token.to_s))
end

class Room < ApplicationRecord
  belongs_to :creator, class_name: "User", optional: true
  has_many :memberships
  has_many :users, through: :memberships
  has_many :messages
  enum :kind, [:open, :invited, :direct], prefix: true

  def name_for(user) = name || users.where.not(id: user).order(:id).pluck(:name).join(", ").presence || user.name
end

class Membership < ApplicationRecord
  belongs_to :user
  belongs_to :room

  def self.read(room, user, id)
    where(room: room, user: user).where(read_message_id: ...id).update_all(read_message_id: id)
  end

  def unread? = room.last_message_id > read_message_id
end

class Message < ApplicationRecord
  belongs_to :user
  belongs_to :room
  has_many :reactions, -> { order(:id) }
  has_one :attachment
  validates :client_id, presence: true
  normalizes :text, with: ->(text) { text.strip }

  scope :page,
    ->(before) {
      includes(:user, :reactions, :attachment).where(before && {id: ...before.to_i}).order(id: :desc)
        .limit(ChatText::PAGE + 1)
    }
  scope :with_words, lambda { |words|
    joins("JOIN message_words ON message_words.rowid = messages.id").where("message_words MATCH ?",
      ChatText.match(words)).order(Arel.sql("message_words.rowid DESC"))
  }

  def self.post(room, user, form)
    transaction do
      create!(**form, room: room, user: user).tap do |message|
        Room.where(id: room).update_all(["version = version + 1, last_message_id = ?", message.id])
        Membership.read(room, user, message.id)
      end
    end
  end

  def announce
    html = ApplicationController.render(partial: "messages/message", locals: {message: self})
    ActionCable.server.broadcast("room:#{room_id}", {type: "message", id: id, client_id: client_id, html: html})
    ActionCable.server.broadcast("news:#{room_id}", {type: "news", room: room_id, message: id})
  end
end

class Reaction < ApplicationRecord
  belongs_to :message
end

class Attachment < ApplicationRecord
  belongs_to :message
end

module ApplicationCable
  class Connection < ActionCable::Connection::Base; end
end

class RoomChannel < ActionCable::Channel::Base
  def subscribed = stream_from("room:#{Integer(params[:id])}")
end

class ApplicationController < ActionController::Base
  prepend_view_path File.expand_path("rails", __dir__)

  before_action :require_sign_in
  helper_method :memberships

  private

  def require_sign_in = (Current.user = SignIn.resume(*cookies.encrypted[:sign_in])&.user) || head(:unauthorized)

  def memberships
    @memberships ||= Current.user.memberships.includes(:room).sort_by do |membership|
      [membership.room.name_for(Current.user).downcase, membership.room_id]
    end
  end

  def find_room(id = params[:room_id]) = @room = Current.user.rooms.find(id)

  def find_messages
    rows = @room.messages.page(params[:before]).to_a
    @messages = rows.first(ChatText::PAGE).reverse
    @older = @messages.first.id if rows.size > ChatText::PAGE
  end

  def sidebar_versions = memberships.map { |membership| [membership.room_id, membership.room.name, membership.unread?] }

  # Renders after the block, or takes the finished page, which has the session's token.
  def page(*versions, layout: true)
    make = -> { yield && render_to_string(layout: layout) }
    key = [controller_name, Current.user, session[:_csrf_token], params[:before], *versions]
    render html: ((ChatText::MODE == :pages) ? Rails.cache.fetch(key) { make.call } : make.call).html_safe
  end
end

class SignInsController < ApplicationController
  skip_forgery_protection
  skip_before_action :require_sign_in

  def create
    sign_in = User.find_by!(email: params[:sign_in][:email]).sign_ins.create!(token: SecureRandom.urlsafe_base64(32))
    cookies.encrypted[:sign_in] = {value: [sign_in.id, sign_in.token], httponly: true}
    redirect_to rooms_path, status: :see_other
  end
end

class RoomsController < ApplicationController
  def show
    find_room(params[:id])
    if memberships.find { |one| one.room_id == @room.id }.unread?
      Membership.read(@room, Current.user, @room.last_message_id)
    end
    page(@room.id, @room.version, *sidebar_versions) { find_messages || true }
  end
end

class MessagesController < ApplicationController
  before_action :find_room

  def index = page(@room.id, @room.version, layout: false) { find_messages || true }

  def create
    message = Message.post(@room, Current.user, params.require(:message).permit(:text, :client_id))
    message.announce
    render json: {id: message.id}, status: :created
  end
end

class SidebarsController < ApplicationController
  def show = page(*sidebar_versions, layout: false) { memberships }
end

class SearchesController < ApplicationController
  def show
    @words = params[:q].to_s
    @messages =
      ChatText.words(@words).empty? ? [] : Message.with_words(@words).where(room_id: Current.user.rooms.select(:id))
        .includes(:user, :room).limit(ChatText::PAGE)
  end
end

run Rails.application
