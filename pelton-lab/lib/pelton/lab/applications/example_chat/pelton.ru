# frozen_string_literal: true

# The chat of examples/ as it is. Its limits count, but let everything through.
require File.join(ENV.fetch("CHAT"), "config/application")

class Unlimited < Pelton::Web::RateLimit::Memory
  def incr(...) = [super, 1].min
end

Chat.settings.rate_limit_store = Unlimited.new
run Chat.boot!
