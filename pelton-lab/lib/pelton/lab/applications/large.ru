# frozen_string_literal: true

require File.expand_path("../../pattern", __FILE__)

# Answers with twelve bytes; at /large with megabytes, generated anew for each request, as a page is.
run lambda { |env|
  body = (env["PATH_INFO"] == "/large") ? Pelton::Lab::Pattern::BLOCK * Integer(ENV.fetch("BLOCKS")) : "Hello World!"
  [200, {"content-type" => "text/plain", "content-length" => body.bytesize.to_s}, [body]]
}
