# frozen_string_literal: true

# The article's long request, in a plain handler.
seconds = Float(ENV.fetch("SECONDS", "2"))

run lambda { |_env|
  sleep seconds
  [200, {"content-type" => "text/plain", "content-length" => "12"}, ["Hello World!"]]
}
