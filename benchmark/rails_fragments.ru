# frozen_string_literal: true

# The application of benchmark/rails_fragments.rb. A page has a hundred messages from SQLite, each a fragment of some 3 KB, which Rails
# keeps compressed in memcached. /each reads them one after the other, /together with one command.

ENV["RAILS_ENV"] = "production"
require "rails"
require "active_record/railtie"
require "action_controller/railtie"
require "action_view/testing/resolvers"

# The ways of benchmark/blocking_calls.rb for what Ruby passes to blocking_operation_wait.
case ENV["HOOK"]
when "threads" then Pelton::Scheduler.define_method(:blocking_operation_wait) { |work| Pelton::Offload::POOL.call_to_end { work.call } }
when "none" then Pelton::Scheduler.undef_method(:blocking_operation_wait)
end

class Fragments < Rails::Application
  config.load_defaults 8.0
  config.root = __dir__
  config.eager_load = false
  config.secret_key_base = "0" * 64
  config.logger = Logger.new(File::NULL)
  config.action_controller.perform_caching = true
  config.active_support.isolation_level = defined?(Pelton) ? :fiber : :thread
  config.cache_store = :mem_cache_store, ENV.fetch("MEMCACHED"), {pool: {size: 64, timeout: 60}}
  config.active_record.maintain_test_schema = false
  routes.append do
    get "each", to: "messages#each"
    get "together", to: "messages#together"
    get "spent", to: ->(_) { [200, {}, ["#{GC.stat(:time)} #{(Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) * 1000).round}"]] }
  end
end

class Message < ActiveRecord::Base
end

class MessagesController < ActionController::Base
  prepend_view_path ActionView::FixtureResolver.new(
    "messages/each.html.erb" => "<ul><% @messages.each do |message| %><% cache message do %><%= render message %><% end %><% end %></ul>",
    "messages/together.html.erb" => '<ul><%= render partial: "messages/message", collection: @messages, cached: true %></ul>',
    "messages/_message.html.erb" => "<li><b><%= message.author %></b><% message.body.each_line do |line| %><p><%= line %></p><% end %></li>"
  )
  before_action { @messages = Message.order(:id).to_a }

  def each = render(:each)
  def together = render(:together)
end

ENV["DATABASE_URL"] = "sqlite3:#{ENV.fetch("DATABASE")}?pool=128"
Rails.application.initialize!
unless Message.table_exists?
  Message.connection.create_table(:messages) { |table| table.string(:author) && table.text(:body) && table.timestamps }
  random = Random.new(1)
  Message.insert_all!(Array.new(100) { |i| {author: "user #{i}", body: Array.new(60) { "#{random.rand(36**12).to_s(36)} says nothing of importance today" }.join("\n"), created_at: Time.now, updated_at: Time.now} })
  Message.reset_column_information
end
run Rails.application
