# frozen_string_literal: true

# An application whose responses and sockets last, with Active Storage, Action Mailer and Action Cable, for the tests
# beside this folder.
require "logger"
require "bundler/setup"
require "rails"
require "active_storage/engine"
require "action_controller/railtie"
require "action_mailer/railtie"
require "action_cable/engine"
Bundler.require

class WaitingApplication < Rails::Application
  config.root = __dir__
  config.load_defaults Rails::VERSION::STRING[/\d+\.\d+/].to_f
  config.eager_load = true
  config.logger = Logger.new("rails.log")
  config.active_job.queue_adapter = :pelton
  config.active_storage.service = :local
  config.action_controller.default_protect_from_forgery = false
  config.action_cable.disable_request_forgery_protection = true
  config.pelton.cable = ENV["OFF"].nil?
  config.action_mailer.smtp_settings = {address: "127.0.0.1", port: ENV["SMTP_PORT"].to_i}
end

class Current < ActiveSupport::CurrentAttributes
  attribute :visitor
end

WaitingApplication.config.middleware.use(Class.new do
  def initialize(app)
    @app = app
  end

  def call(env)
    Current.visitor = env["QUERY_STRING"][/visitor=(\w+)/, 1]
    @app.call(env)
  end
end)

ENV["DATABASE_URL"] ||= "sqlite3:#{__dir__}/waiting.sqlite3?timeout=2000&pool=10"
LOADED = SecureRandom.hex # another one when the program is started again
ENDED = Hash.new(0)
VISITORS = []
SEEN = Set.new
AWAKE = []
Rails.application.initialize!

unless ActiveRecord::Base.connection.table_exists?(:documents)
  ActiveRecord::Migration.verbose = false
  require Dir["#{ActiveStorage::Engine.root}/db/migrate/*_create_active_storage_tables.rb"].fetch(0)
  CreateActiveStorageTables.migrate(:up)
  ActiveRecord::Base.connection.create_table(:documents) { |table| table.string :name }
end
ActiveRecord::Base.connection_handler.clear_active_connections!

class Document < ActiveRecord::Base
  has_one_attached :file
end

class Notices < ActionMailer::Base
  def notice
    mail(from: "app@example.com", to: "user@example.com", subject: "A notice", body: "Something has happened.")
  end
end

class PagesController < ActionController::Base
  def plain = render(plain: "hello")

  def wake
    AWAKE << true
    head :no_content
  end

  def visitor
    sleep 0.05
    VISITORS << Current.visitor
    render plain: Current.visitor
  end

  def mail
    Notices.notice.deliver_now
    render plain: "delivered"
  end

  def broadcast
    ActionCable.server.broadcast("news", {"text" => params[:text]})
    head :no_content
  end

  # Closes all sockets, and does not wait for their clients.
  def restart_cable
    ActionCable.server.restart
    head :no_content
  end

  def counts
    render json: {ended: ENDED, sockets: ActionCable.server.connections.size, threads: Thread.list.size,
                  tasks: Pelton.tasks.size,
                  connections: ActiveRecord::Base.connection_pool.stat[:busy], seen: SEEN.to_a,
                  requests: request.env["async.callback"].server.stats[:running]}
  end
end

class DocumentsController < ActionController::Base
  def create
    document = Document.create!(name: "a file", file: params.require(:file))
    render plain: document.id
  end

  # Passes the file through the application; the other ways are Active Storage's own: the disk's, to which this
  # redirects, and its proxy's.
  def show
    file = Document.find(params[:id]).file
    redirect_to (params[:by] == "proxy") ? rails_storage_proxy_path(file) : rails_storage_redirect_path(file)
  end
end

class LiveController < ActionController::Base
  include ActionController::Live

  def endless
    loop { response.stream.write("data: #{"x" * 1000}\n\n") && sleep(0.005) }
  rescue ActionController::Live::ClientDisconnected
    ENDED[:live] += 1
  ensure
    response.stream.close
  end

  # Writes once, and again when the client has left.
  def silent
    response.stream.write("data: once\n\n")
    sleep 0.01 until response.stream.connected? == false
    ENDED[:silent] += 1
  ensure
    $stdout.write("a stream has ended\n")
    response.stream.close
  end

  # Hears of nothing but its alarm.
  def asleep
    response.stream.write("data: once\n\n")
    sleep 0.01 until AWAKE.any?
  ensure
    response.stream.close
    ENDED[:asleep] += 1
  end

  # Uses the database, and lasts until others have come, when its own client has left long ago. The part is so large
  # that the request waits for its client.
  def lasting
    ActiveRecord::Base.lease_connection.select_value("SELECT 1")
    response.stream.write("for #{Current.visitor}: #{"x" * (16 << 20)}")
    SEEN << Current.visitor while sleep(0.01) && (response.stream.connected? || VISITORS.size < 8)
  ensure
    response.stream.close
    ENDED[:lasting] += 1
  end

  # Rails keeps ten parts: where the client does not read, the stream's close waits for room.
  def unread
    part = "x" * (4 << 20)
    11.times { response.stream.write(part) }
  ensure
    response.stream.close
    ENDED[:unread] += 1
  end
end

class StreamsController < ActionController::Base
  def endless
    response.headers["last-modified"] = Time.utc(2024).httpdate
    self.response_body = Enumerator.new do |parts|
      loop { (parts << "x" * 1000) && sleep(0.005) }
    ensure
      ENDED[:enumerator] += 1
    end
  end
end

module ApplicationCable
  class Connection < ActionCable::Connection::Base
  end

  class Channel < ActionCable::Channel::Base
  end
end

class NewsChannel < ApplicationCable::Channel
  def subscribed = stream_from("news")

  def echo(data) = transmit({"echo" => data["text"], "process" => "#{Process.pid} #{LOADED}"})
end

# Leaves a line for each step in a file, which outlives the process.
module Notes
  class << self
    def write(text) = File.write("notes", "#{text}\n", mode: "a")

    def include?(text) = File.foreach("notes", chomp: true).include?(text)

    # What Rails.error has got.
    def report(error, **) = write("reported: #{error.message}")
  end
end
Rails.error.subscribe(Notes)

class NoteJob < ActiveJob::Base
  # @param after [String, nil] the line for which the job waits
  def perform(text, after = nil)
    sleep 0.01 until after.nil? || Notes.include?(after)
    raise text if text == "on purpose"
    Notes.write("#{text} in #{Pelton.running? ? "a fiber" : "a thread"}")
  end
end

# Its methods run in threads of Action Cable, and enqueue jobs.
class JobsChannel < ApplicationCable::Channel
  periodically(every: 0.05) { enqueue("periodical") }

  def subscribed = enqueue("subscribed")

  def unsubscribed
    sleep 0.1
    enqueue("unsubscribed")
  end

  def act(data)
    enqueue(*data["job"])
    transmit(Pelton.running? ? "in a fiber" : "in a thread")
  end

  # Goes on until a job is refused; one more follows when the server has stopped.
  def chain
    at_exit { Thread.new { enqueue("late") }.join }
    transmit("it begins")
    number = 0
    sleep 0.01 while enqueue("link #{number += 1}")
    Notes.write("the chain has ended")
  end

  private

  def enqueue(*job)
    NoteJob.perform_later(*job).tap { |enqueued| Notes.write("#{enqueued ? "accepted" : "refused"}: #{job.first}") }
  end
end
