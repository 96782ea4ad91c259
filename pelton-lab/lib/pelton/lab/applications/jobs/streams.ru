# frozen_string_literal: true

# Pages, and streams of 50 tokens in two seconds. Puma has a thread for each stream, which it may know to be one that
# waits.
class Tokens
  def each
    50.times do |number|
      yield "data: token#{number}\n\n"
      sleep 0.04
    end
  end
end

run lambda { |env|
  next [200, {"content-type" => "text/plain"}, ["a page"]] unless env["PATH_INFO"] == "/stream"
  env["puma.mark_as_io_bound"]&.call
  [200, {"content-type" => "text/event-stream", "cache-control" => "no-cache"}, Tokens.new]
}
