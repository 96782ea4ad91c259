# frozen_string_literal: true

# A first look at Pelton, which `bin/pelton` serves: requests that wait beside others that do not, and a counter in
# memcached.

require "pelton/memcached"

CACHE = Pelton::Memcached::Client.new # without an address: an embedded memcached

PAGES = {
  "/" => -> { "Try #{(PAGES.keys - ["/"]).join(", ")}\n" },
  "/fast" => -> { "fast\n" },
  "/slow" => -> { "slow, after #{sleep(1)} s\n" }, # parks this request's fiber; the others are served meanwhile
  "/count" => -> { "#{CACHE.incr("visits", initial: 1)} visits\n" }
}.freeze

run lambda { |env|
  page = PAGES[env["PATH_INFO"]]
  [page ? 200 : 404, {"content-type" => "text/plain"}, [page ? page.call : "There is no such page\n"]]
}
