# frozen_string_literal: true

# A public image of 20 KB.
IMAGE = Random.new(20).bytes(20_000).freeze

run ->(_env) {
  [200, {"content-type" => "image/png", "cache-control" => "public, max-age=3600", "etag" => "\"image\""}, [IMAGE]]
}
