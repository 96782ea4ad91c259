# frozen_string_literal: true

# The site that `rake docs` has made.
require "rack/static"

use Rack::Static, urls: [""], root: File.expand_path("../../tmp/docs", __dir__), index: "index.html"
run ->(_) { [404, {"content-type" => "text/plain"}, ["Not found\n"]] }
