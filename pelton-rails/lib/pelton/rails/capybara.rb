# frozen_string_literal: true

require "capybara"
require "pelton/http"

# `Capybara.server = :pelton`: tests in a browser run on the server of production. Options may follow:
# `Capybara.server = :pelton, {request_timeout: 5}`.
Capybara.register_server(:pelton) do |app, port, host, **options|
  Pelton.run do
    server = Pelton::HTTP::Server.new(app, **options)
    server.listen("tcp://#{host.include?(":") ? "[#{host}]" : host}:#{port}")
  end
end
