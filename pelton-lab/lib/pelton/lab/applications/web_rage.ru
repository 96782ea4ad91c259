# frozen_string_literal: true

# A constant text on Rage, by its own server in one process.
require "rage"
require "rage/all"

Rage.configure { config.server.workers_count = 1 }

class TextController < RageController::API
  def show = render(plain: "Hello World!")
end

Rage.routes.draw { root to: "text#show" }
run Rage.application
