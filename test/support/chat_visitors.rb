# frozen_string_literal: true

require "json"
require "pelton/http"
require "pelton/http/websocket"
require "securerandom"

# Visitors of examples/chat, as a program of its own: each is signed in, reads a room and posts a message in between,
# less often than the chat allows, and two of them keep a socket open that resumes after a lost connection. Writes a
# line of JSON for each request and each message that a socket receives.
#
#   ruby chat_visitors.rb URL VISITORS
#
# It ends on TERM, when the sockets had time to receive what was posted last.
class ChatVisitors
  PASSWORD = "correct horse battery"
  ORIGIN = {"sec-fetch-site" => "same-origin"}.freeze
  PROTOCOL = "actioncable-v1-ext-json"

  def initialize(url, visitors)
    @url = url
    @visitors = visitors
    @done = false
  end

  def run
    Pelton.run do
      Signal.trap(:TERM) { @done = true }
      cookies = Array.new(@visitors) { |number| sign_in(number) }
      sockets = cookies.first(2).each_with_index.map { |cookie, number| Pelton.spawn { follow(cookie, number) } }
      write(kind: "ready")
      cookies.each_with_index.map { |cookie, number| Pelton.spawn { visit(cookie, number + 1) } }.each(&:await)
      sleep 5
      sockets.each(&:cancel)
      write(kind: "end")
    end
  end

  private

  def write(**fields)
    $stdout.puts(JSON.generate({at: Process.clock_gettime(Process::CLOCK_MONOTONIC), **fields}))
    $stdout.flush
  end

  def client(headers = {}) = Pelton::HTTP::Client.new(@url, headers: ORIGIN.merge(headers), redirects: 0, timeout: 40)

  def sign_in(number)
    response =
      client.post("/sign_in",
        form: {"sign_in[email]" => "user#{number + 1}@example.com", "sign_in[password]" => PASSWORD})
    raise "visitor #{number}: #{response.status}" unless response.status == 303
    Array(response.headers["set-cookie"]).flat_map { |line| line.split("\n") }.map { |line| line[/\A[^;]*/] }.join("; ")
  end

  def visit(cookie, user)
    http = client("cookie" => cookie)
    until @done
      6.times { request("page", user: user) { http.get("/rooms/1") }.then { sleep 0.1 } }
      id = SecureRandom.uuid
      request("post", id) do
        http.post("/rooms/1/messages", form: {"message[text]" => "hello #{id}", "message[client_id]" => id})
      end
    end
  end

  # A page must be this user's.
  def request(kind, id = nil, user: nil)
    started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    response = yield
    status = response.status
    status = 0 if kind == "page" && status != 200
    if user && status == 200 && !response.body.include?("<body data-user=\"#{user}\"")
      status, problem = -1, "another user's page"
    end
  rescue Pelton::Error => error
    status = 0
    problem = "#{error.class}: #{error.message}"
  ensure
    write(kind: kind, id: id, status: status, started: started, error: problem)
  end

  # The stream's position goes along when the socket comes back.
  def follow(cookie, number)
    identifier = JSON.generate(channel: "RoomChannel", id: "1")
    positions = {}
    loop do
      socket = Pelton::HTTP::WebSocket.connect("#{@url.sub("http", "ws")}/cable",
        headers: ORIGIN.merge("cookie" => cookie, "origin" => @url), protocols: [PROTOCOL], timeout: 5)
      talk(socket, number, identifier, positions)
    rescue Pelton::Error, SystemCallError => error
      write(kind: "lost", socket: number, error: error.class.name)
      sleep 0.2
    ensure
      socket&.close
    end
  end

  def talk(socket, number, identifier, positions)
    while (text = socket.receive(timeout: 10))
      message = JSON.parse(text)
      case message["type"]
      when "welcome" then socket.write(JSON.generate({command: "subscribe", identifier: identifier,
                                                      history: ({streams: positions} if positions.any?)}.compact))
      when "ping" then socket.write(JSON.generate(command: "pong"))
      when "confirm_subscription", "reject_history" then write(kind: message["type"], socket: number)
      when nil
        positions[message["stream_id"]] = message.slice("epoch", "offset")
        write(kind: "message", socket: number, ids: message["message"].to_s.scan(/hello ([-\h]{36})/).flatten)
      end
    end
  end
end

ChatVisitors.new(ARGV[0], Integer(ARGV[1])).run if $PROGRAM_NAME == __FILE__
