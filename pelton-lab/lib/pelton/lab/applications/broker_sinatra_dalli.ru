# frozen_string_literal: true

# Article 002's application, in blocking style, on dalli.
require "sinatra/base"
require "dalli"

class Broker < Sinatra::Base
  CACHE = Dalli::Client.new(ENV.fetch("MEMCACHE_SERVERS"), protocol: :meta, raw: true, compress: false, socket_timeout: 10, value_max_bytes: 2 << 20)

  get("/:name") { CACHE.get(params[:name]) || halt(404) }
end

run Broker
