# frozen_string_literal: true

require "test_helper"
require "pelton/lab/run"
require "pelton/lab/web/server"
require "pelton/lab/web/signed_in_clients"
require_relative "../support/server_program"

# Against a server of a few lines, which signs users in by a cookie.
class LabSignedInClientsTest < PeltonTest
  Clients = Pelton::Lab::SignedInClients
  USERS = {7 => "Ann", 9 => "Bob"}.freeze
  SERVER = ServerProgram::RECEIVE + <<~'RUBY'
    require "zlib"
    number = 0
    answer = lambda do |line, headers, body|
      number += 1
      user = headers["cookie"].to_s[/user=(\d+)/, 1]
      name = (ARGV[1] == "mixed") ? "Ann" : {"7" => "Ann", "9" => "Bob"}[user]
      case line
      when /^POST .sign_in/ then ["303 See Other", "set-cookie: user=#{body[/user(\d+)%40/, 1]}; path=/\r\n", ""]
      when /^POST/ then ["201 Created", "", "{\"id\":#{number}}"]
      when /chunked/ then ["200 OK", "transfer-encoding: chunked\r\n", "<p class=\"account\"><b>#{name}</b> <li><li>"]
      else ["200 OK", "content-encoding: gzip\r\n",
        Zlib.gzip("<p class=\"account\"><b>#{name}</b></p> <form id=\"composer\">" \
          "<input type=\"hidden\" name=\"authenticity_token\" value=\"t#{number}\"></form><li>x</li>")]
      end
    end
    server = TCPServer.new("127.0.0.1", ARGV[0])
    loop do
      Thread.new(server.accept) do |socket|
        while (request = receive(socket))
          status, more, body = answer.call(*request)
          body = if more.start_with?("transfer")
            "3\r\n#{body[0, 3]}\r\n#{(body.size - 3).to_s(16)}\r\n#{body[3..]}\r\n0\r\n\r\n"
          else
            body
          end
          socket.write("HTTP/1.1 #{status}\r\n" \
            "#{more}#{"content-length: #{body.bytesize}\r\n" unless more.start_with?("transfer")}\r\n#{body}")
        end
      end
    end
  RUBY
  PAGE = Clients::Page.new(path: "/rooms/1", status: 200, personal: true, mark: "<li>", count: 1)
  POST = Clients::Page.new(path: "/rooms/3/messages", status: 201, personal: false)

  def test_loads_a_page
    visit do |clients|
      done = clients.load(PAGE, 20)

      assert_equal 20, done.requests
      assert_operator done.p50_ms, :<=, done.p99_ms
    end
  end

  def test_reads_answers_in_chunks
    visit do |clients|
      assert_equal 4,
        clients.load(Clients::Page.new(path: "/chunked", status: 200, personal: true, mark: "<li>", count: 2),
          4).requests
    end
  end

  def test_another_users_answer_is_wrong
    assert_match(/that of its user/,
      assert_raises(Pelton::Lab::Run::WrongAnswer) { visit("mixed") { |clients| clients.load(PAGE, 4) } }.message)
  end

  def test_a_page_with_other_elements_is_wrong
    page = PAGE.dup.tap { |one| one.count = 2 }

    assert_match(/<li>/,
      assert_raises(Pelton::Lab::Run::WrongAnswer) { visit { |clients| clients.load(page, 4) } }.message)
  end

  def test_keeps_what_was_acknowledged
    visit do |clients|
      clients.load(POST, 6)

      assert_equal 6, clients.acknowledged.size
      assert_equal [[7, 3], [9, 3]], clients.acknowledged.values.map { |sent| sent.first(2) }.uniq.sort
      assert_equal 6, clients.acknowledged.values.map(&:last).uniq.size
    end
  end

  def test_compares_pages_without_tokens
    visit do |clients|
      first = clients.canonical(PAGE)

      assert_equal first, clients.canonical(PAGE)
      assert_equal "Ann\nb \np class=account\nform id=composer\nx\nli ", first[0]
      assert_equal "Bob", first[1][0, 3]
    end
  rescue LoadError
    skip "no nokogiri"
  end

  private

  def visit(*arguments)
    Pelton::Lab::WebServer.serve(->(port, _) { [RbConfig.ruby, "-e", SERVER, port.to_s, *arguments] }) do |server|
      yield Clients.new(Pelton::Lab::Run.new(size: 1), server, USERS)
    end
  end
end
