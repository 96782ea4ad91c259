# frozen_string_literal: true

# Plain Rack on dalli, with a connection for each request that may be in progress.
require "dalli"

clients = Thread::Queue.new
Integer(ENV.fetch("CONNECTIONS", "5")).times do
  clients << Dalli::Client.new(ENV.fetch("MEMCACHE_SERVERS"),
    protocol: :meta, raw: true, compress: false, socket_timeout: 10, value_max_bytes: 2 << 20)
end

run lambda { |env|
  client = clients.pop
  begin
    value = client.get(env["PATH_INFO"].delete_prefix("/"))
  ensure
    clients << client
  end
  value ? [200, {"content-length" => value.bytesize.to_s}, [value]] : [404, {}, []]
}
