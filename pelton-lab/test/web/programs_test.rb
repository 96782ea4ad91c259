# frozen_string_literal: true

require "test_helper"
require "digest"
require "socket"
require "pelton/lab/web/programs"
require "pelton/lab/web/server"
require_relative "installed_servers"

# Each server that is installed serves the lab's application.
class LabWebProgramsTest < PeltonTest
  include InstalledServers

  self.deadline = 60

  Web = Pelton::Lab::WebPrograms
  HELLO = Web.application("hello")

  def hello(command, path = "/")
    Pelton::Lab::WebServer.serve(command) do |server|
      answer = server.get(path)
      assert_equal "200", answer.code
      assert_equal "Hello World!", answer.body
    end
  end

  def test_pelton
    hello(Web.pelton(HELLO))
    hello(Web.pelton(HELLO, "-w", "2"), "/busy")
  end

  {puma: "puma", falcon: "falcon", thin: "thin", iodine: "iodine", itsi: "itsi-server"}.each do |name, gem|
    define_method("test_#{name}") do
      needs(gem:)
      hello(Web.public_send(name, HELLO))
    end
  end

  def test_a_program_of_an_article_where_it_shall_listen
    Pelton::Lab::WebServer.serve(Web.article("001_threads", 8081, on: :pelton)) do |threads|
      Pelton::Lab::WebServer.serve(Web.article("001_deferrable", 8082, on: :pelton,
        instead: {8081 => threads.port})) do |server|
        assert_equal "Hello World!", server.get.body
      end
    end
  end

  def test_nginx
    needs(program: "nginx")
    hello(Web.nginx('location / { return 200 "Hello World!"; }'))
  end

  def test_nginx_as_a_proxy
    needs(program: "nginx")
    Pelton::Lab::WebServer.serve(Web.nginx_proxy("10240")) do |server|
      assert_equal %w[200 10240], server.post("/", "x" * 10_240).then { |answer| [answer.code, answer.body] }
    end
  end

  def test_the_application_that_reads_bodies
    body = "0123456789" * 20_000
    Pelton::Lab::WebServer.serve(Web.pelton(Web.application("body"))) do |server|
      assert_equal %w[200000 200000], %w[/json /upload].map { |path| server.post(path, body).body }
      assert_equal Digest::SHA256.hexdigest(body), server.post("/digest", body).body
    end
  end

  def test_redis
    needs(program: "redis-server")
    Pelton::Lab::WebServer.serve(Web.redis) do |server|
      answer = TCPSocket.open("127.0.0.1", server.port) do |socket|
        socket.write("PING\r\n")
        socket.gets
      end

      assert_equal "+PONG\r\n", answer
    end
  end

  def test_node
    needs(program: "node")
    hello(Web.node('require("http").createServer((_, response) => response.end("Hello ' \
      'World!")).listen(+process.argv[1], "127.0.0.1")'))
  end
end
