# frozen_string_literal: true

# What routes cost (docs/internals/adr/028). First alone: CPU time of a call of the application, without a server, beside Roda and Sinatra where they
# are installed. Then on Pelton's HTTP server by wrk: a route to a constant text / the bare Rack application, and 200 routes / 5 routes.
#
#   ruby -Ilib -Ipelton-web/lib benchmark/web_routes.rb     (ROUNDS=9 CALLS=20000 SECONDS=1; needs wrk)

require "rbconfig"
require "rack/mock_request"
require "pelton/web"
require_relative "support/measuring"
require_relative "support/subject"

ROUNDS = Integer(ENV.fetch("ROUNDS", "9"))
CALLS = Integer(ENV.fetch("CALLS", "20000"))

APPLICATIONS = <<~'RUBY'
  require "pelton/web"

  TEXT = "hello\n"
  BARE = ->(_env) { [200, {"content-type" => "text/plain; charset=utf-8"}, [TEXT]] }

  # A constant text at /hello, and as many routes beside it: half of them have a variable.
  def web(count)
    Class.new(Pelton::Web::Application) do
      routes do
        (count - 2).times { |number| number.odd? ? get("/static#{number}/page") { TEXT } : get("/things#{number}/:id/part") { TEXT } }
        get("/hello") { TEXT }
        get("/named/:name") { TEXT }
      end
    end.tap(&:boot!)
  end

  def roda(count)
    require "roda"
    Class.new(Roda) do
      plugin :default_headers, "content-type" => "text/plain; charset=utf-8"
      plugin :hash_branches
      (count - 2).times { |number| hash_branch("things#{number}") { |r| r.get(String, "part") { TEXT } } }
      hash_branch("hello") { |r| r.get(true) { TEXT } }
      hash_branch("named") { |r| r.get(String) { TEXT } }
      route(&:hash_branches)
    end.freeze.app
  end

  def sinatra(count)
    ENV["APP_ENV"] = "production"
    require "sinatra/base"
    Class.new(Sinatra::Base) do
      set :host_authorization, permitted_hosts: []
      (count - 2).times { |number| get("/things#{number}/:id/part") { TEXT } }
      get("/hello") { TEXT }
      get("/named/:name") { TEXT }
    end
  end
RUBY

# CPU seconds of one call. The application gets a new env each time, as a server makes one; the bare application is subtracted nowhere.
def call_time(app, path)
  env = Rack::MockRequest.env_for(path)
  raise "#{path}: #{app.call(env.dup)}" unless app.call(env.dup).then { |status, _, body| status == 200 && [*body.each].join == "hello\n" || status == 200 && body.to_enum.to_a.join == "hello\n" }
  processor_time { CALLS.times { app.call(env.dup) } } / CALLS
end

def compare(titles, first)
  titles.each do |title, values|
    puts format("%-44s %10.2f %10.2f", title, median(values) * 1e6, median(values.zip(titles[first]).map { |own, other| own / other }))
  end
end

eval(APPLICATIONS) # standard:disable Security/Eval
contenders = {"bare Rack application" => [BARE, "/hello"]}
[5, 200].each do |count|
  web = web(count)
  contenders["Web, #{count} routes, constant path"] = [web, "/hello"]
  contenders["Web, #{count} routes, path with a variable"] = [web, "/named/ann"]
  contenders["Roda (hash branches), #{count} routes"] = [roda(count), "/named/ann"]
  contenders["Sinatra, #{count} routes"] = [sinatra(count), "/named/ann"]
rescue LoadError => error
  warn "left out: #{error.message}"
end
times = Hash.new { |all, name| all[name] = [] }
contenders.each_value { |app, path| call_time(app, path) } # warms up
ROUNDS.times { contenders.each { |name, (app, path)| times[name] << call_time(app, path) } }
puts "CPU time of a call, without a server           us / bare"
compare(times, times.keys.first)

SERVER = <<~RUBY
  require "pelton/http"
  #{APPLICATIONS}
  app = eval(ARGV[1])
  Pelton.run { Pelton::HTTP::Server.new(app).listen("tcp://127.0.0.1:\#{ARGV[0]}") }
RUBY

root = File.expand_path("..", __dir__)
served = {"bare Rack application" => ["BARE", "/hello"], "Web, 5 routes, constant path" => ["web(5)", "/hello"], "Web, 200 routes, constant path" => ["web(200)", "/hello"],
          "Web, 5 routes, path with a variable" => ["web(5)", "/named/ann"], "Web, 200 routes, path with a variable" => ["web(200)", "/named/ann"]}
subjects = served.map do |name, (app, path)|
  Subject.new(name, {}, RbConfig.ruby, "-I#{root}/lib", "-I#{root}/pelton-web/lib", "-e", SERVER, "PORT", app, path: path)
end
subjects.each(&:measure) # warms up
subjects.each { |subject| [subject.rates, subject.costs].each(&:clear) }
ROUNDS.times { subjects.shuffle.each(&:measure) }

puts "", "On Pelton's HTTP server                   requests/s     / bare   CPU us of a request   / bare"
bare = subjects.first
subjects.each do |subject|
  puts format("%-40s %11d %10.2f %21.2f %8.2f", subject.name, median(subject.rates), median(subject.rates.zip(bare.rates).map { |own, other| own / other }),
    median(subject.costs) * 1e6, median(subject.costs.zip(bare.costs).map { |own, other| own / other }))
end
