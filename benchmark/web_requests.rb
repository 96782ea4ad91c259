# frozen_string_literal: true

# What requests cost in Pelton::Web beyond the server (docs/internals/adr/032): CPU time of a call of the application, in microseconds, medians of
# interleaved rounds.
#
#     bundle exec ruby -Ilib -Ipelton-web/lib benchmark/web_requests.rb [ROUNDS]

ENV["RACK_ENV"] = "production"

require "rack"
require "pelton/web"
require_relative "support/measuring"

LAB = File.expand_path("../pelton-lab/lib/pelton/lab/applications", __dir__)
TEXT = "Hello World!"
SECRETS = ["s" * 64].freeze
VALUES = {"user" => 7, "name" => "Ada", "cart" => Array.new(5) { |id| {"id" => id, "count" => 2} }}.freeze
SESSION = Pelton::Web::Secrets.new(SECRETS).encrypt(JSON.generate(VALUES), purpose: "session", expires_at: Time.now + 86_400 * 14)
SENT = Time.at(1_700_000_000)

class SignedInController < Pelton::Web::Controller
  # The user of the session, as most applications have it.
  def versioned
    render plain: TEXT if stale?([session[:user], 40, SENT])
  end
end

class SignedIn < Pelton::Web::Application
  settings.root = File.join(__dir__, "support")
  settings.secrets = SECRETS
  routes { get "/versioned", to: "signed_in#versioned" }
end

class NoLayers < Pelton::Web::Application
  settings.root = File.join(__dir__, "support")
  settings.security_headers = settings.request_id = false
  routes { get("/") { TEXT } }
end

# What Pelton's server puts into the env of a request by wrk.
ENVIRONMENT = {
  "REQUEST_METHOD" => "GET", "SCRIPT_NAME" => "", "QUERY_STRING" => "", "SERVER_NAME" => "127.0.0.1", "SERVER_PORT" => "9292", "SERVER_PROTOCOL" => "HTTP/1.1",
  "rack.url_scheme" => "http", "rack.errors" => $stderr, "rack.input" => nil, "REMOTE_ADDR" => "127.0.0.1", "HTTP_HOST" => "127.0.0.1:9292", "rack.hijack?" => true
}.freeze

def env(path, **headers) = {**ENVIRONMENT, "PATH_INFO" => path, "REQUEST_URI" => path, **headers.transform_keys(&:to_s)}

def lab(fragments: false)
  ENV["FRAGMENTS"] = ("1" if fragments)
  %i[LabMessagesController Lab VIEWS].each { |name| Object.__send__(:remove_const, name) if Object.const_defined?(name) }
  Rack::Builder.parse_file(File.join(LAB, "web.ru")).then { |app| app.is_a?(Array) ? app.first : app }
end

page = {HTTP_COOKIE: "user=Ada", HTTP_ACCEPT_ENCODING: "gzip"}
web = lab
CONTENDERS = {
  "bare Rack application" => [->(_) { [200, {"content-type" => "text/plain", "content-length" => "12"}, [TEXT]] }, env("/"), 200, 10_000],
  "a constant text, without layers" => [NoLayers, env("/"), 200, 10_000],
  "a constant text" => [web, env("/"), 200, 10_000],
  "304, a cookie" => [web, env("/messages/versioned", HTTP_COOKIE: "user=Ada", HTTP_IF_NONE_MATCH: "*"), 304, 3000],
  "304, a session" => [SignedIn, env("/versioned", HTTP_COOKIE: "theme=dark; session=#{SESSION}", HTTP_IF_NONE_MATCH: "*"), 304, 3000],
  "40 messages" => [web, env("/messages", **page), 200, 50],
  "40 messages, fragments" => [lab(fragments: true), env("/messages", **page), 200, 500]
}.freeze

CONTENDERS.each do |name, (app, given, status, _)|
  answer = app.call(given.dup)
  abort "#{name}: #{answer}" unless answer[0] == status
end
times = CONTENDERS.transform_values { [] }
Integer(ARGV[0] || 9).times do
  CONTENDERS.to_a.shuffle.each do |name, (app, given, _, count)|
    times[name] << processor_time { count.times { app.call(given.dup) } } / count * 1e6
  end
end
base = median(times.values.first)
puts "us, median, range, median without the bare application's"
times.each { |name, all| puts format("%-34s %8.2f  %8.2f..%-8.2f %8.2f", name, median(all), *all.minmax, median(all) - base) }
