# frozen_string_literal: true

require "test_helper"
require "json"
require "pelton/lab/web/server"
require "pelton/lab/web/visitor"
require_relative "../support/server_program"

class LabWebVisitorTest < PeltonTest
  # Says what it was asked with, and sets a cookie and a token that differ each time.
  SCRIPT = ServerProgram::RECEIVE + <<~'RUBY'
    require "json"
    server = TCPServer.new("127.0.0.1", ARGV[0])
    number = 0
    while (socket = server.accept)
      line, headers, body = receive(socket)
      next unless line
      number += 1
      said = JSON.generate({
        line: line.chomp,
        cookie: headers["cookie"],
        token: headers["x-csrf-token"],
        type: headers["content-type"],
        body: body
      }) +
        " <meta name=\"csrf-token\" content=\"t#{number}\" />" + (line.start_with?("POST") ? "number #{number}" : "")
      socket.write("HTTP/1.1 200 OK\r\nconnection: close\r\nx-kind: echo\r\nx-runtime: #{number}\r\n" \
        "set-cookie: a=#{number}; path=/\r\nset-cookie: b=x=y\r\ncontent-length: #{said.bytesize}\r\n\r\n#{said}")
      socket.close
    end
  RUBY

  def visit
    Pelton::Lab::WebServer.serve(->(port, _) { [RbConfig.ruby, "--disable=gems", "-e", SCRIPT, port.to_s] }) do |server|
      yield Pelton::Lab::WebVisitor.new(server)
    end
  end

  def test_the_first_request_has_neither_cookies_nor_a_token
    visit do |visitor|
      assert_equal ["GET /first HTTP/1.1", nil, nil], said(visitor.get("/first")).values_at("line", "cookie", "token")
    end
  end

  def test_cookies_and_the_token_are_sent_back
    visit do |visitor|
      first = Integer(visitor.get("/")["x-runtime"])
      again = said(visitor.get("/"))

      assert_equal ["a=#{first}; b=x=y", "t#{first}"], again.values_at("cookie", "token")
      assert_equal ["a=#{first + 1}; b=x=y", "t#{first + 1}"], visitor.headers.values_at("Cookie", "X-CSRF-Token")
    end
  end

  def test_posts_json
    visit do |visitor|
      assert_equal ["application/json", '{"x":1}'], said(visitor.post("/", '{"x":1}')).values_at("type", "body")
    end
  end

  def test_what_varies_is_not_compared
    visit do |visitor|
      visitor.get("/")
      first, second = Array.new(2) { visitor.same("/") }
      without = ->(answer) { [answer[0], answer[1], answer[2].gsub(/"(cookie|token)":"[^"]*"/, "")] }

      assert_equal without.call(first), without.call(second)
      assert_equal ["200", {"x-kind" => ["echo"]}], first.first(2)
      assert_equal visitor.same("/", post: "{}")[2].gsub(/"cookie":"[^"]*"/, ""),
        visitor.same("/", post: "{}")[2].gsub(/"cookie":"[^"]*"/, ""), "the number of what was made"
    end
  end

  def test_decodes_what_is_compressed
    script = <<~'RUBY'
      require "socket"
      require "zlib"
      server = TCPServer.new("127.0.0.1", ARGV[0])
      while (socket = server.accept)
        head = socket.gets("\r\n\r\n") or next
        body = Zlib.gzip(head[/^accept-encoding: (.*)\r/i, 1])
        socket.write("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-encoding: gzip\r\n" \
          "content-length: #{body.bytesize}\r\n\r\n#{body}")
        socket.close
      end
    RUBY
    Pelton::Lab::WebServer.serve(->(port, _) { [RbConfig.ruby, "--disable=gems", "-e", script, port.to_s] }) do |server|
      assert_equal "gzip", Pelton::Lab::WebVisitor.new(server, encoding: "gzip").get("/").body
    end
  end

  private

  def said(answer) = JSON.parse(answer.body[/\A\{.*\}/])
end
