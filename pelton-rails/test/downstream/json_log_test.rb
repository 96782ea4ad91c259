# frozen_string_literal: true

require_relative "../support/rails_program"

class RailsJSONLogTest < PeltonTest
  include RailsProgram

  self.deadline = 120

  def test_lines_have_the_id_and_the_address_that_rails_has_found
    assert_equal <<~TEXT, rails_output(<<~RUBY)
      200, the same id: true, 203.0.113.9
      200, the same id: true, 127.0.0.1
    TEXT
      require "json"
      require "pelton/http/launcher"
      TestApplication.config.secret_key_base = "0" * 64
      ENV["DATABASE_URL"] = "sqlite3::memory:"
      TestApplication.routes.append do
        get "/", to: ->(env) { [200, {}, [ActionDispatch::Request.new(env).request_id]] }
      end
      TestApplication.initialize!
      log, ids = StringIO.new, []
      Pelton.run do
        server = Pelton::HTTP::Server.new(TestApplication, log: Pelton::HTTP::JSONLog.new(log))
        port = server.listen("tcp://127.0.0.1:0").port
        address = {"x-forwarded-for" => "203.0.113.9"}
        [address, {**address, "client-ip" => "198.51.100.1"}].each do |headers|
          ids << Pelton::HTTP.get("http://127.0.0.1:\#{port}/", headers: headers).body
        end
        server.stop
      end
      log.string.lines.map { |line| JSON.parse(line) }.zip(ids) do |line, id|
        puts "\#{line["status"]}, the same id: \#{line["request_id"] == id && !id.empty?}, \#{line["address"]}"
      end
    RUBY
  end
end
