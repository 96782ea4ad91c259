# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/lab/contender"
require "pelton/lab/web_programs"
require "pelton/lab/web_server"

# Each server that is installed serves the lab's application.
class LabWebProgramsTest < PeltonTest
  self.deadline = 60

  Web = Pelton::Lab::WebPrograms
  HELLO = Web.application("hello")

  def hello(command, path = "/")
    Pelton::Lab::WebServer.serve(command) { |server| assert_equal ["200", "Hello World!"], server.get(path).then { |answer| [answer.code, answer.body] } }
  end

  def needs(**what)
    Pelton::Lab::Contender.new("x", **what).unavailable&.then { |reason| skip reason }
  end

  def test_pelton
    hello(Web.pelton(HELLO))
    hello(Web.pelton(HELLO, "-w", "2"), "/busy")
  end

  %w[puma falcon thin iodine].each do |name|
    define_method("test_#{name}") do
      needs(gem: name)
      hello(Web.public_send(name, HELLO))
    end
  end

  def test_a_program_of_an_article_where_it_shall_listen
    Pelton::Lab::WebServer.serve(Web.article("001_threads", 8081, on: :pelton)) do |threads|
      Pelton::Lab::WebServer.serve(Web.article("001_deferrable", 8082, on: :pelton, instead: {8081 => threads.port})) do |server|
        assert_equal "Hello World!", server.get.body
      end
    end
  end

  def test_nginx
    needs(program: "nginx")
    hello(Web.nginx('location / { return 200 "Hello World!"; }'))
  end

  def test_node
    needs(program: "node")
    hello(Web.node('require("http").createServer((_, response) => response.end("Hello World!")).listen(+process.argv[1], "127.0.0.1")'))
  end
end
