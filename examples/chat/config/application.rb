# frozen_string_literal: true

require "bundler/setup"
require "pelton/web"
require "pelton/web/cable"
require "pelton/sequel"
require "pelton/memcached"

class Chat < Pelton::Web::Application
  settings.root = File.expand_path("..", __dir__)
  # The beginning of URLs without a request, as in mails. Set BASE_URL in production, which has no default.
  settings.base_url =
    ENV.fetch("BASE_URL") { "http://localhost:#{ENV.fetch("PORT", 9292)}" unless settings.environment == "production" }
  # The addresses of proxies, whose X-Forwarded-For is believed: "10.0.0.1,unix"
  settings.trusted_proxies = ENV.fetch("TRUSTED_PROXIES", "").split(",")
  # The same folder on all machines.
  settings.uploads = Pelton::Web::Uploads.new(ENV["UPLOADS"]) if ENV["UPLOADS"]
  settings.max_body = 12 << 20
  # Rendered parts of pages are kept in the process, or in memcached for several machines. CHAT_CACHE is for
  # measurements: "fragments" keeps messages and sidebars, but no finished lists of messages, and "none" keeps nothing.
  KEEP_PAGES = ENV.fetch("CHAT_CACHE", "pages") == "pages"
  if ENV["CHAT_CACHE"] == "none"
    settings.fragments = Pelton::Web::Fragments.new(max_bytes: 1)
  elsif ENV["MEMCACHE_SERVERS"]
    settings.fragments = Pelton::Web::Fragments.new(memcached: Pelton::Memcached::Client.new)
  end
  # The workers of one machine count together anyway.
  settings.rate_limit_store = Pelton::Memcached::Client.new if ENV["MEMCACHE_SERVERS"]
end

require_relative "database"
DB = Pelton::Sequel.connect
Sequel::Model.plugin :pelton

# Background work: config/pelton.rb starts it, and the server finishes it when it stops.
BACKGROUND = Pelton::Background.new
BACKGROUND.every(3600, "old sign-ins") { SignIn.clean }

# A browser that lost its connection asks for the messages since.
Pelton::PubSub.keep(/\Aroom:\d+\z/)
