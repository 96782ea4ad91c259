# frozen_string_literal: true

require "test_helper"
require "pelton/lab/run"
require "pelton/lab/web/page_clients"
require "pelton/lab/web/server"
require_relative "../support/server_program"

# Against a server of a few lines, which answers with the number of the connection and of the request on it.
class LabPageClientsTest < PeltonTest
  SERVER = ServerProgram::RECEIVE + <<~'RUBY'
    server = TCPServer.new("127.0.0.1", ARGV[0])
    loop do
      Thread.new(server.accept) do |socket|
        while (line, headers, body = receive(socket))
          right = headers["cookie"] == "a=1" && line.start_with?("POST") == (body == "{}")
          answer = if line.include?("chunked")
            "transfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"
          else
            "content-length: 2\r\n\r\nab"
          end
          socket.write("HTTP/1.1 #{right ? 200 : 400} x\r\n#{answer}")
        end
      end
    end
  RUBY

  def load(...)
    Pelton::Lab::WebServer.serve(->(port, _) { [RbConfig.ruby, "--disable=gems", "-e", SERVER, port.to_s] }) do |server|
      Pelton::Lab::PageClients.new(Pelton::Lab::Run.new(size: 1), server, 3, {"Cookie" => @cookie || "a=1"}).load(...)
    end
  end

  def test_answers_with_a_length
    assert_equal 10, load("/", 10).requests
  end

  def test_answers_in_chunks
    assert_operator load("/chunked", 10).p99_ms, :>, 0
  end

  def test_posts
    assert_equal 4, load("/", 4, post: "{}").requests
  end

  def test_another_status_is_wrong
    @cookie = "a=2"

    error = assert_raises(Pelton::Lab::Run::WrongAnswer) { load("/", 3) }
    assert_includes error.message, "an answer's status should be 200, is 400"
  end
end
