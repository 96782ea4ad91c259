# frozen_string_literal: true

require "capybara"
require "pelton/http"

# `Capybara.server = :pelton`: the tests' browser meets the application as it is served in production. The server's options may follow:
# `Capybara.server = :pelton, {request_timeout: 5}`.
Capybara.register_server(:pelton) do |app, port, host, **options|
  Pelton.run do
    server = Pelton::HTTP::Server.new(app, **options)
    server.listen("tcp://#{host.include?(":") ? "[#{host}]" : host}:#{port}")
  end
end
