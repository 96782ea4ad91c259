# frozen_string_literal: true

# The same as cable.ru, as an application of pelton-web.
require "pelton/web/cable"

class LabChannel < Pelton::Web::Channel
  def subscribed = stream_from("lab")
end

class LabApplication < Pelton::Web::Application
  settings.secrets = ["0" * 64]
  settings.forgery_protection = false
  routes do
    mount LabApplication.cable, at: "/cable"
    get("/up") { render plain: "up" }
    post "/broadcast" do
      Integer(request.query_string).times do |number|
        Pelton::Cable.broadcast("lab", {n: number, at: Process.clock_gettime(Process::CLOCK_MONOTONIC)})
      end
      render plain: "sent", status: 201
    end
  end
end

run LabApplication.boot!
