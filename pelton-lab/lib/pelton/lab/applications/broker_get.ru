# frozen_string_literal: true

# Article 002's application as plain Rack. It receives each value as a String.
require "pelton/memcached"

CACHE = Pelton::Memcached::Client.new(timeout: 10)

run(lambda do |env|
  value = CACHE.get(env["PATH_INFO"].delete_prefix("/")) or next [404, {}, []]
  [200, {"content-type" => "application/octet-stream", "content-length" => value.bytesize.to_s}, [value]]
end)
