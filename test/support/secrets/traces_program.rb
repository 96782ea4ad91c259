# frozen_string_literal: true

# A program whose server, clients and database are traced, whose cache is Rails', and that runs a server with a control
# socket. It looks for marked secrets in spans, access logs, and what the control socket and `pelton status` say, and
# prints each mark that it finds, and where.

require "logger"
require "socket"
require "tmpdir"
require "opentelemetry/sdk"
require "pelton"
require "pelton/http"
require "pelton/memcached"
require "pelton/sequel"
require "pelton/opentelemetry"
require "active_support"
require "active_support/cache/pelton_store"
require_relative "walk"

GC.disable # until all have been looked at
EXPORTER = OpenTelemetry::SDK::Trace::Export::InMemorySpanExporter.new
OpenTelemetry.logger = Logger.new(Log.new)
OpenTelemetry::SDK.configure do |sdk|
  sdk.add_span_processor(OpenTelemetry::SDK::Trace::Export::SimpleSpanProcessor.new(EXPORTER))
end
Pelton.on_error { |error, *| Walk.error("on_error", error) }
FOLDER = Dir.mktmpdir
at_exit { FileUtils.rm_rf(FOLDER) }
QUERY = "token=#{Walk.mark("query")}"
HEADERS = {"cookie" => "a=#{Walk.mark("cookie")}", "authorization" => "Bearer #{Walk.mark("authorization")}",
           "x-api-key" => Walk.mark("header")}.freeze

def requests(port)
  client = Pelton::HTTP::Client.new("http://user:#{Walk.mark("url")}@127.0.0.1:#{port}", headers: HEADERS)
  client.get("/?#{QUERY}")
  client.post("/?#{QUERY}", form: {password: Walk.mark("password")})
  attempt("timeout") { client.get("/slow?#{QUERY}", timeout: 0.1) }
  client.get("/missing?#{QUERY}")
  socket = TCPSocket.new("127.0.0.1", port)
  socket.write("GET http://127.0.0.1/?#{QUERY} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")
  socket.read
  closed = TCPServer.open("127.0.0.1", 0) { |one| one.addr[1] }
  attempt("refused") do
    Pelton::HTTP.get("http://user:#{Walk.mark("url")}@127.0.0.1:#{closed}/?#{QUERY}", headers: HEADERS)
  end
ensure
  client&.close
  socket&.close
end

def traced
  release = nil
  app = lambda do |env|
    release.pop if env["PATH_INFO"] == "/slow"
    nope if env["PATH_INFO"] == "/missing"
    [200, {"set-cookie" => "a=#{Walk.mark("cookie")}"}, [Walk.mark("answer")]]
  end
  [Pelton::HTTP::CommonLog, Pelton::HTTP::JSONLog].each do |log|
    release = Thread::Queue.new
    server = Pelton::HTTP::Server.new(app, errors: StringIO.new, log: log.new(Log.new))
    requests(server.listen("tcp://127.0.0.1:0").port)
    Walk.objects("server")
    release.close
    server.stop
  end
end

def memcached
  closed = TCPServer.open("127.0.0.1", 0) { |one| one.addr[1] }
  server = Pelton::Memcached::Server.new
  [closed, server.start.port].each do |port|
    client = Pelton::Memcached::Client.new("127.0.0.1:#{port}")
    client.later.set(Walk.mark("key"), Walk.mark("value")).errback { |error| Walk.error("memcached", error) }
    begin
      client.increment(Walk.mark("key"))
    rescue => error
      Walk.error("memcached", error)
    end
    cache = ActiveSupport::Cache::PeltonStore.new("127.0.0.1:#{port}", namespace: "n",
      error_handler: ->(exception:, **) { Walk.error("cache", exception) })
    cache.logger = Logger.new(Log.new, level: :info) # Rails itself writes keys at the level debug
    cache.write(Walk.mark("key"), {token: Walk.mark("value")})
    cache.read(Walk.mark("key"))
    cache.increment(Walk.mark("key"))
    cache.fetch_multi(Walk.mark("key"), "b") { Walk.mark("value") }
    Walk.objects("cache")
  end
  attempt("option") { ActiveSupport::Cache::PeltonStore.new("127.0.0.1:1", password: Walk.mark("password")) }
  attempt("address") { ActiveSupport::Cache::PeltonStore.new("memcached://user:#{Walk.mark("url")}@127.0.0.1") }
  attempt("pool") { ActiveSupport::Cache::PeltonStore.new("127.0.0.1:1", pool: {size: Walk.mark("password")}) }
  ActiveSupport::Cache::PeltonStore.new("127.0.0.1:1", tls: {password: Walk.mark("password")})
  server.stop
end

def queries
  database = Pelton::Sequel.connect("sqlite:#{FOLDER}/a.db")
  database.create_table(:users) { String :token, unique: true }
  2.times do
    database[:users].insert(token: "it's \\ #{Walk.mark("token")}")
  rescue Sequel::UniqueConstraintViolation => error
    Walk.error("unique", error)
  end
  database[:users].where(token: Walk.mark("token")).where(Sequel.lit("1 = 1 -- it's\n")).all
  attempt("syntax") { database.run("SELECT nope('#{Walk.mark("token")}')") }
end

# A server in a process of its own, with a control socket.
def served(format)
  File.write("#{FOLDER}/config.ru", <<~RUBY)
    release = Thread::Queue.new
    run lambda { |env|
      release.pop if env["PATH_INFO"] == "/slow"
      release.close if env["PATH_INFO"] == "/release"
      env["PATH_INFO"] == "/missing" ? [404, {}, []] : [200, {"set-cookie" => "a=b"}, ["hello"]]
    }
  RUBY
  root = File.expand_path("../../..", __dir__)
  control = "#{FOLDER}/#{format}.sock"
  ready, told = IO.pipe
  process = spawn(RbConfig.ruby, "-I#{root}/lib", "#{root}/exe/pelton", "serve", "-b", "tcp://127.0.0.1:0",
    "--control", control, "--log-format", format, "#{FOLDER}/config.ru", out: told, err: told, chdir: FOLDER)
  told.close
  lines = +""
  lines << ready.readpartial(4096) until (port = lines[%r{127\.0\.0\.1:(\d+)}, 1]) && File.socket?(control)
  waiting = Pelton.spawn { Pelton::HTTP.get("http://127.0.0.1:#{port}/slow?#{QUERY}", headers: HEADERS, timeout: 30) }
  requests(port)
  %w[stats metrics tasks live ready].each do |path|
    answer = UNIXSocket.open(control) do |socket|
      socket.write("GET /#{path}?#{QUERY} HTTP/1.0\r\nauthorization: #{Walk.mark("authorization")}\r\n\r\n") &&
        socket.read
    end
    puts "no answer to #{path}: #{answer}" unless answer.start_with?("HTTP/1.1 200")
    Walk.text("control socket: #{path}", answer)
  end
  Walk.text("pelton status",
    IO.popen([RbConfig.ruby, "-I#{root}/lib", "#{root}/exe/pelton", "status", control], err: %i[child out], &:read))
  Pelton::HTTP.get("http://127.0.0.1:#{port}/release")
  waiting.await
ensure
  Process.kill(:TERM, process)
  Process.wait(process)
  lines << ready.read
  puts "no lines of requests: #{lines}" unless lines.include?("/missing")
  Walk.text("log of the server", lines)
end

Pelton.run do
  traced
  memcached
  queries
  %w[common json].each { |format| served(format) }
  Pelton.stop
end
spans = EXPORTER.finished_spans
unless spans.size > 20 && %w[GET POST INSERT SELECT set].all? { |name| spans.any? { |span| span.name == name } }
  puts "no spans"
end
spans.each do |span|
  Walk.text("span #{span.name}", [span.attributes, span.name, span.status.description].inspect)
  span.events&.each { |event| Walk.text("event of the span #{span.name}", event.attributes.inspect) }
end
Walk.report
