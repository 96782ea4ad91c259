# frozen_string_literal: true

require_relative "../../../../pelton-rails/test/support/rails_program"

# With the Rack 2 of Rails 7.0.
class RackHandlerPeltonTest < PeltonTest
  include RailsProgram

  def test_rack_2_finds_it_and_it_serves
    lines = rails_output(<<~'RUBY', setup: "", version: "7.0").lines(chomp: true)
      require "bundler/setup"
      require "rack"
      handler = Rack::Handler.get("pelton")
      puts Rack.release[/\A\d+/], handler.name
      handler.run(->(env) { [200, {"Content-Type" => "text/plain"}, ["hello"]] },
        Host: "127.0.0.1", Port: "0") do |launcher|
        Pelton.spawn do
          puts Pelton::HTTP.get("http://127.0.0.1:#{launcher.server.listeners.first.port}").body
          Process.kill("INT", Process.pid)
        end
      end
    RUBY

    release, name, body = lines.reject { |line| line.start_with?("Pelton ") }

    assert_equal "2", release
    assert_equal "Rack::Handler::Pelton", name
    assert_equal "hello", body
  end
end
