# frozen_string_literal: true

require_relative "../test_helper"

# Applications on a Rack before 3, whose requests rewind the body.
class RackVersionsTest < PeltonTest
  APPLICATION = <<~'RUBY'
    begin
      gem "rack", ARGV.first
    rescue LoadError
      exit
    end
    require "rack"
    require "rack/lint"
    require "pelton/http"

    app = lambda do |env|
      request = Rack::Request.new(env)
      parameters = request.params.map { |name, value| "#{name}=#{value.is_a?(Hash) ? value[:tempfile].read : value}" }
      [200, {"content-type" => "text/plain"}, [[Rack.release, *parameters, env["rack.input"].read.bytesize].join(" ")]]
    end
    Pelton.run do
      server = Pelton::HTTP::Server.new(Rack::Lint.new(app))
      url = "http://127.0.0.1:#{server.listen("tcp://127.0.0.1:0").port}/"
      form = {"content-type" => "application/x-www-form-urlencoded"}
      parts = "--x\r\ncontent-disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\nfile\r\n--x--\r\n"
      puts Pelton::HTTP.get(url).body
      puts Pelton::HTTP.post(url, headers: form, body: "a=1").body
      puts Pelton::HTTP.post(url, headers: form, body: ["b=", "2"].each).body
      puts Pelton::HTTP.post(url, headers: {"content-type" => "multipart/form-data; boundary=x"}, body: parts).body
      puts Pelton::HTTP.post(url, headers: form, body: "").body
      server.stop
    end
  RUBY

  ["~> 1.6.0", "~> 2.2.0", "~> 3.0"].each do |version|
    define_method(:"test_requests_with_a_body_on_rack_#{version}") do
      rewinds = version != "~> 3.0"
      lines = ruby_output(APPLICATION, version, gems: true).lines(chomp: true).map { |line| line.split(" ", 2).last }
      skip "no rack #{version}" if lines.empty?

      assert_equal rewinds ? ["0", "a=1 3", "b=2 3", "f=file 76", "0"] : ["0", "a=1 0", "b=2 0", "f=file 0", "0"], lines
    end
  end
end
