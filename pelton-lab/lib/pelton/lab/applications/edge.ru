# frozen_string_literal: true

require "rack"
require_relative "edge"

# The application of the experiment edge. FOLDER has its files. What a server does not do itself is its work: STATIC
# sends assets, DEFLATE compresses pages. SENDFILE is the header that has a file sent by a server.
folder = ENV.fetch("FOLDER")
pages =
  {"/hello" => Edge::HELLO, "/page/10" => Edge.page(10), "/page/100" => Edge.page(100), "/public" => Edge.page(10)}
types = Hash.new("text/html; charset=utf-8").update("/hello" => "text/plain")
file = {"content-type" => "application/octet-stream"}
file =
  case ENV["SENDFILE"]
  when "x-sendfile" then file.merge("x-sendfile" => "#{folder}/files/file")
  when "x-accel-redirect" then file.merge("x-accel-redirect" => "/files/file")
  end
files = Rack::Files.new("#{folder}/files")

if ENV["STATIC"]
  use Rack::Static, urls: ["/assets"], root: "#{folder}/public",
    header_rules: [[:all, {"cache-control" => "public, max-age=31536000, immutable"}]]
end
use Rack::Deflater, if: ->(env, *) { env["PATH_INFO"].start_with?("/page/") } if ENV["DEFLATE"]

run lambda { |env|
  path = env["PATH_INFO"]
  next (file ? [200, file.dup, []] : files.call(env)) if path == "/file"
  headers = {"content-type" => types[path]}
  headers["cache-control"] = "public, max-age=3600" if path == "/public"
  [200, headers, [pages.fetch(path)]]
}
