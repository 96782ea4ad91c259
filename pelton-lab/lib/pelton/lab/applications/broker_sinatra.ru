# frozen_string_literal: true

# Article 002's application, in blocking style, on Pelton's client.
require "sinatra/base"
require "pelton/memcached"

class Broker < Sinatra::Base
  CACHE = Pelton::Memcached::Client.new(timeout: 10)

  get("/:name") { CACHE.get(params[:name]) || halt(404) }
end

run Broker
