# frozen_string_literal: true

# Article 002's non-blocking style without Sinatra: EventMachine's client, and async.callback.
require "eventmachine"

cache = nil

run lambda { |env|
  cache ||= EM::P::Memcache.connect(*ENV.fetch("MEMCACHE_SERVERS").split(":").then { |host, port| [host, port.to_i] })
  cache.get(env["PATH_INFO"].delete_prefix("/")) do |value|
    env["async.callback"].call(value ? [200, {"content-length" => value.bytesize.to_s}, [value]] : [404, {}, []])
  end
  [-1, {}, []]
}
