# frozen_string_literal: true

# A program that uses all gems with marked secrets, and looks at all of their objects while they work: what `inspect`,
# `to_s` and the like, messages of errors, logs, answers, the control socket and spans show. It prints each mark that it
# finds, and where.

require "logger"
require "tmpdir"
require "pelton"
require "pelton/control"
require "pelton/eventmachine"
require "pelton/http"
require "pelton/http/websocket"
require "pelton/memcached"
require "pelton/sequel"
require "pelton/tls"
require "pelton/web"
require_relative "../certificates"
require_relative "walk"

GC.disable # until all have been looked at
KEY = Certificates.for("localhost", "127.0.0.1")
Walk.also("key", KEY.key.lines[2].chomp)
Walk.also("basic", ["user:#{Walk.mark("url")}"].pack("m0"))
ERRORS = $stderr
at_exit { ERRORS.puts $!.full_message if $! && !$!.is_a?(SystemExit) }
$stderr = Log.new
Pelton.on_error { |error, *more|
  Walk.error("on_error", error)
  Walk.text("on_error", more.join(" "))
}
Pelton.logger = Logger.new(Log.new)
FOLDER = Dir.mktmpdir
at_exit { FileUtils.rm_rf(FOLDER) }
FileUtils.mkdir_p("#{FOLDER}/app/views/shop_pages")
File.write("#{FOLDER}/app/views/shop_pages/template.html.erb",
  "<% Walk.objects('template') %><%= form_with(url: '/') { |f| nope } %>")
ENV["SECRET_KEY_BASE"] = "#{Walk.mark("base")}-#{"x" * 64}"

class ShopPagesController < Pelton::Web::Controller
  before_action :keep, :read

  def keep
    @user = {password: Walk.mark("user")}
    session["token"] ||= Walk.mark("session")
    flash[:notice] = Walk.mark("flash")
    cookies[:seen] = {value: Walk.mark("sent")}
    cookies.encrypted[:other] = Walk.mark("sent")
    response.headers["authorization"] = Walk.mark("answer")
  end

  def read
    params.to_h
    cookies.to_h
    Walk.objects("action")
  end

  private :keep, :read

  def show = render(json: {a: 1})
  def template = nil
  def missing = nope
  def missing_method = nope(1)
  def block = [1].each { nope }
  def typed = params.integer(:password)
  def nested = params.require(:user).permit(:password).fetch(:other)

  def streamed
    stream do |out|
      out << "a"
      Walk.objects("stream")
      nope
    end
  end

  def deferred
    defer_response(200, {"x" => "y"}) do |response|
      Walk.objects("deferred")
      response.send_data("x").succeed
    end
  end

  def socket
    websocket do |socket|
      socket.write(socket.receive)
      Walk.objects("socket")
      nope
    end
  end

  def formats = respond_to { |format| format.html { nope } }

  def later = redirect_to("https://user:#{Walk.mark("url")}@evil.example/")
end

class Shop < Pelton::Web::Application
  settings.root = FOLDER
  settings.hosts = nil
  settings.raise_errors = false
  settings.max_body = 1 << 20
  settings.deadline = 20
  settings.trusted_proxies = ["unix"]
  routes do
    ShopPagesController.action_methods.each do |action|
      match "/#{action}(.:format)", via: :all, to: "shop_pages##{action}"
    end
    get("/route") { nope }
    mount ->(env) { env["rack.session"].tap { |session| session["x"] = Walk.mark("session") }.nope }, at: "/mounted"
  end
end

class ShopConnection < EventMachine::Connection
  def initialize(password) = @password = password

  def connection_completed = start_tls(private_key: KEY.key, cert_chain: KEY.certificate)

  def receive_data(_data)
    Walk.objects("EventMachine")
    EventMachine.stop
  end
end

SECRET_REQUEST = {"cookie" => "token=#{Walk.mark("cookie")}; a=b",
                  "authorization" => "Bearer #{Walk.mark("authorization")}", "x-api-key" => Walk.mark("header")}

def web
  server = Pelton::HTTP::Server.new(Shop.boot!, errors: Log.new, log: Pelton::HTTP::JSONLog.new(Log.new))
  port = server.listen("tcp://127.0.0.1:0", tls: KEY.to_h).port
  client = Pelton::HTTP::Client.new("https://user:#{Walk.mark("url")}@localhost:#{port}", headers: SECRET_REQUEST,
    tls: {ca_file: CA})
  (ShopPagesController.action_methods.map(&:to_s) - ["socket"] + %w[route mounted]).each do |path|
    form = {"user[password]" => Walk.mark("password"), "password" => Walk.mark("password")}
    answers = [-> { client.post("/#{path}", form: form, headers: {"sec-fetch-site" => "same-origin"}) },
      -> { client.get("/#{path}", headers: {"accept" => "application/json"}) }]
    answers.each { |answer| Walk.text("answer of #{path}", text_of(&answer)) }
  end
  socket = Pelton::HTTP::WebSocket.connect("wss://user:#{Walk.mark("url")}@localhost:#{port}/socket",
    headers: SECRET_REQUEST.merge("origin" => "https://localhost:#{port}"), tls: {ca_file: CA})
  socket.write(Walk.mark("message"))
  Walk.objects("client's socket")
  socket.receive
  socket.close
  Walk.text("stats", server.stats)
  Walk.text("metrics", Pelton::Metrics.text(Pelton::Metrics.families, {{} => Pelton::Metrics.stats}))
  client.close
  server.stop
end

# A stream breaks off.
def text_of
  yield.body
rescue Pelton::Error => error
  Walk.error("client", error)
end

def clients
  closed = TCPServer.open("127.0.0.1", 0) { |one| one.addr[1] }
  client = Pelton::HTTP::Client.new("http://user:#{Walk.mark("url")}@127.0.0.1:#{closed}", headers: SECRET_REQUEST)
  attempt("refused") { client.get("/?token=#{Walk.mark("query")}") }
  attempt("one request") do
    Pelton::HTTP.get("http://user:#{Walk.mark("url")}@127.0.0.1:#{closed}/?token=#{Walk.mark("query")}")
  end
  attempt("proxy") do
    Pelton::HTTP.get("http://example.org/", proxy: "http://user:#{Walk.mark("url")}@127.0.0.1:#{closed}")
  end
  proxied = Pelton::HTTP::Client.new("http://example.org", proxy: "http://user:#{Walk.mark("url")}@127.0.0.1:#{closed}")
  attempt("proxy") { proxied.get("/") }
  attempt("bad proxy") do
    Pelton::HTTP::Client.new("http://example.org", proxy: "socks://user:#{Walk.mark("url")}@h").get("/")
  end
  attempt("bad URL") { Pelton::HTTP.get("http://user:#{Walk.mark("url")}@127.0.0.1:99999/") }
  attempt("bad URL") { Pelton::HTTP.get("http://user:#{Walk.mark("url")}@exa mple/") }
  attempt("bad URL") { Pelton::HTTP.get("ftp://user:#{Walk.mark("url")}@example/") }
  attempt("bad header") { client.get("/", headers: {"x-token" => "#{Walk.mark("header")}\r\nx: y"}) }
  attempt("bad header") { client.get("/", headers: {"authorization" => [Walk.mark("header"), nil]}) }
  attempt("websocket") do
    Pelton::HTTP::WebSocket.connect("ws://user:#{Walk.mark("url")}@127.0.0.1:#{closed}/?token=#{Walk.mark("query")}")
  end
  server = Pelton::HTTP::Server.new(method(:service), errors: Log.new)
  client =
    Pelton::HTTP::Client.new("http://user:#{Walk.mark("url")}@127.0.0.1:#{server.listen("tcp://127.0.0.1:0").port}",
      headers: SECRET_REQUEST)
  attempt("redirects") { client.get("/loop?token=#{Walk.mark("query")}") }
  attempt("timeout") { client.get("/slow?token=#{Walk.mark("query")}", timeout: 0.1) }
  answer = client.get("/?token=#{Walk.mark("query")}")
  later = client.later.get("/slow?token=#{Walk.mark("query")}", timeout: 0.2)
  task = Pelton.spawn { attempt("task") { client.get("/slow?token=#{Walk.mark("query")}", timeout: 0.2) } }
  sleep 0.01 # lets both begin
  Walk.objects("requests in flight")
  Walk.text("tasks", Pelton.tasks.map(&:inspect))
  attempt("later") { later.await }
  task.await
  answer.body
  client.close
  server.stop(timeout: 0) # slow requests never end
end

def service(env)
  case env["PATH_INFO"]
  when "/loop" then [302, {"location" => "/loop?token=#{Walk.mark("query")}"}, []]
  when "/slow" then sleep
  else [500, {"set-cookie" => "a=#{Walk.mark("cookie")}"}, [Walk.mark("answer")]]
  end
end

def memcached
  closed = TCPServer.open("127.0.0.1", 0) { |one| one.addr[1] }
  lost = Pelton::Memcached::Client.new("127.0.0.1:#{closed}", timeout: 1)
  attempt("memcached") { lost.get(Walk.mark("memcached-key")) }
  attempt("memcached") { lost.set(Walk.mark("memcached-key"), Walk.mark("value")) }
  server = Pelton::Memcached::Server.new
  port = server.start.port
  client = Pelton::Memcached::Client.new("127.0.0.1:#{port}", serializer: Marshal, namespace: "n:")
  client.set("session:1", Walk.mark("value"))
  client.get("session:1")
  attempt("increment") { client.increment("session:1") }
  attempt("long key") { client.get(Walk.mark("memcached-key") + "k" * 300) }
  attempt("key") { client.get(Walk.mark("memcached-key") + " x") }
  ["memcached://user:#{Walk.mark("url")}@127.0.0.1", "user:#{Walk.mark("url")}@127.0.0.1:1",
    "#{Walk.mark("url")}@127.0.0.1", ["127.0.0.1:1", [Walk.mark("url")]]].each do |address|
    attempt("address") { Pelton::Memcached::Client.new(address) }
  end
  attempt("TLS") do
    Pelton::Memcached::Client.new("127.0.0.1:1",
      tls: {certificate: KEY.certificate, key: KEY.key, password: Walk.mark("password"), ca_file: "/nowhere"})
  end
  Pelton::Memcached::Client.new("127.0.0.1:1",
    tls: {certificate: KEY.certificate, key: KEY.key, password: Walk.mark("password")}, namespace: "n")
  attempt("value") { Pelton::Memcached::Client.new("127.0.0.1:#{port}").set("a", [Walk.mark("value")]) }
  client.later.get("session:1")
  Walk.objects("memcached")
  client.close
  server.stop
end

def databases
  attempt("postgres", Pelton::Error) do
    Pelton::Sequel.connect("postgres://user:#{Walk.mark("url")}@127.0.0.1:1/db", timeout: 1)
  end
  attempt("mysql", Pelton::Error) do
    Pelton::Sequel.connect("mysql://user:#{Walk.mark("url")}@127.0.0.1:1/db", timeout: 1)
  end
  attempt("address", Pelton::Error) { Pelton::Sequel.connect("oracle://user:#{Walk.mark("url")}@127.0.0.1:1/db") }
  attempt("address", Pelton::Error) { Pelton::Sequel.connect("postgres://user:#{Walk.mark("url")}@127.0.0.1:x/db") }
  attempt("address", Pelton::Error) { Pelton::Sequel.connect("postgres://user:#{Walk.mark("url")}@@127.0.0.1/db") }
  attempt("address", Pelton::Error) { Pelton::Sequel.connect("postgres://user:#{Walk.mark("url")}@127.0.0.1") }
  attempt("address", Pelton::Error) { Pelton::Sequel.connect("postgres://user:#{Walk.mark("url")}") }
  attempt("address", Pelton::Error) { Pelton::Sequel.connect("postgres:user:#{Walk.mark("url")}@127.0.0.1/db") }
  attempt("address", Pelton::Error) { Pelton::Sequel.connect("oracle://127.0.0.1/db?password=#{Walk.mark("url")}") }
  attempt("postgres", Pelton::Error) do
    Pelton::Sequel.connect("postgres://127.0.0.1:1/db?password=#{Walk.mark("url")}", timeout: 1)
  end
  attempt("replica", Pelton::Error) do
    Pelton::Sequel.connect("sqlite::memory:", replicas: ["postgres://user:#{Walk.mark("url")}@127.0.0.1:x/db"])
  end
  database = Pelton::Sequel.connect("sqlite:#{FOLDER}/a.db", replicas: [])
  database.create_table(:users) {
    primary_key :id
    String :name, unique: true
    String :password_digest
    String :api_token
    String :OldSecret
  }
  users = database[:users]
  model = Class.new(Sequel::Model(users)) { plugin :pelton }
  id =
    model.create(name: "ann", password_digest: Walk.mark("password"),
      api_token: Walk.mark("token"), OldSecret: Walk.mark("token")).id
  attempt("not unique") { model.create(name: "ann", api_token: Walk.mark("token")) }
  datasets = [users.where(api_token: Walk.mark("token")),
    users.where(Sequel.lit("api_token = '#{Walk.mark("token")}'")),
    users.where(Sequel.lit("api_token = ?", Walk.mark("token"))),
    users.where(id: users.where(api_token: [Walk.mark("token")]).select(:id)),
    model.where(api_token: Walk.mark("token"))]
  datasets.each do |dataset|
    Walk.text("dataset", dataset.inspect)
    attempt("NameError") { dataset.nope }
    attempt("column") { dataset.select_map(:nope) }
    attempt("not found") { dataset.where(name: "nobody").first! }
    attempt("pages") { dataset.pelton_page(after: Walk.mark("token")) }
    Walk.text("page", dataset.order(:name).pelton_page.inspect)
  end
  attempt("column") { model.where(nope: Walk.mark("token")).all }
  2.times.map { Pelton.spawn { attempt("merged") { model.with_pk!(id + 1) } } }.each(&:await)
  attempt("column") { database[:nope].where(token: Walk.mark("token")).to_a }
  database.query_timeout = 0.05
  attempt("timeout") do
    database.fetch("SELECT count(*), '#{Walk.mark("token")}' FROM (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT " \
      "x + 1 FROM c LIMIT 1000000000) SELECT x FROM c)").all
  end
  Walk.objects("databases")
end

def eventmachine
  server = EventMachine.start_server("127.0.0.1", 0, ShopConnection, Walk.mark("password"))
  port = Socket.unpack_sockaddr_in(EventMachine.get_sockname(server)).first
  EventMachine.connect("127.0.0.1", port, ShopConnection, Walk.mark("password"))
  EventMachine.connect("127.0.0.1", port, EventMachine::Protocols::Postgres3).connect("db", "user",
    Walk.mark("password"))
  EventMachine::Protocols::HttpClient.request(host: "127.0.0.1", port: port, basic_auth: {username: "user",
                                                                                          password: Walk.mark("url")})
  EventMachine::Protocols::SmtpClient.send(host: "127.0.0.1", port: port, domain: "x", auth: {type: :plain,
                                                                                              username: "u",
                                                                                              password: Walk.mark(
                                                                                                "password"
                                                                                              )}, body: Walk.mark(
                                                                                                "message"
                                                                                              ),
    from: "a@b",
    to: "c@d")
end

CA = File.join(FOLDER, "ca.pem")
File.write(CA, Certificates.authority)
Pelton.run do
  web
  clients
  memcached
  databases
  Pelton.stop
end
EventMachine.run { eventmachine }
Walk.report
