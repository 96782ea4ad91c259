# frozen_string_literal: true

# A memcached broker: values over HTTP, by GET, PUT and DELETE. See README.md.
#
#     MEMCACHE_SERVERS=localhost:11211 pelton serve config.ru

require "pelton/memcached"

class Broker
  # A number from the environment.
  def self.setting(name, default)
    yield ENV.fetch(name, default)
  rescue ArgumentError
    raise ArgumentError, "#{name} is no number: #{ENV[name].inspect}"
  end

  # memcached's own limits, of a key in bytes and of an item.
  KEY = %r{\A/([!-~]{1,250})\z}
  LARGEST = setting("BROKER_LARGEST", 1_048_000) { |bytes| Integer(bytes) }
  TIMEOUT = setting("BROKER_TIMEOUT", 2) { |seconds| Float(seconds) }
  # What comes from a client is sent to browsers as bytes, never as a page.
  HEADERS = {"content-type" => "application/octet-stream", "x-content-type-options" => "nosniff"}.freeze

  def initialize(cache)
    @cache = cache
  end

  # An ordinary blocking call: while it waits, the other requests go on.
  def call(env)
    key = env["PATH_INFO"][KEY, 1] or
      return answer((env["REQUEST_METHOD"] == "PUT") ? 400 : 404, "a key is 1 to 250 visible ASCII characters\n")
    case env["REQUEST_METHOD"]
    when "GET", "HEAD" then get(key)
    when "PUT" then put(key, env)
    when "DELETE" then @cache.delete(key) ? answer(204) : answer(404, "no such key\n")
    else answer(405, "GET, PUT or DELETE\n", "allow" => "GET, HEAD, PUT, DELETE")
    end
  rescue Pelton::ConnectionError, Pelton::OverloadError => error
    env["rack.errors"].puts("broker: #{error.message}")
    answer(503, "memcached does not answer\n", "retry-after" => "1")
  rescue Pelton::Memcached::ServerError => error
    env["rack.errors"].puts("broker: #{error.message}")
    answer(502, "memcached refuses\n")
  end

  private

  # As a stream, because a large value need not be received here to be sent.
  def get(key)
    value = @cache.stream(key) or return answer(404, "no such key\n")
    [200, HEADERS.merge("content-length" => value.bytesize.to_s), value]
  end

  def put(key, env)
    lifetime = env["HTTP_X_EXPIRES_IN"]
    unless lifetime.nil? || lifetime.match?(/\A[1-9]\d{0,8}\z/)
      return answer(400, "x-expires-in is a number of seconds\n")
    end
    # One byte more than allowed is read at the most, however much is sent.
    value = env["rack.input"]&.read(LARGEST + 1) || +""
    return answer(413, "at most #{LARGEST} bytes\n") if value.bytesize > LARGEST
    @cache.set(key, value, ttl: lifetime&.to_i)
    answer(204)
  end

  def answer(status, body = nil, headers = {})
    return [status, headers, []] unless body
    [status, {**HEADERS, "content-length" => body.bytesize.to_s, **headers}, [body]]
  end
end

# Bytes in, bytes out: nothing is serialized or compressed. The servers are those of MEMCACHE_SERVERS.
run Broker.new(Pelton::Memcached::Client.new(timeout: Broker::TIMEOUT))
