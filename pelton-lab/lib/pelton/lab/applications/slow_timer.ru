# frozen_string_literal: true

# The article's long request in EventMachine's style: nothing waits, a timer answers.
require "eventmachine"

seconds = Float(ENV.fetch("SECONDS", "2"))

run lambda { |env|
  EM.add_timer(seconds) {
    env["async.callback"].call([200, {"content-type" => "text/plain", "content-length" => "12"}, ["Hello World!"]])
  }
  [-1, {}, []]
}
