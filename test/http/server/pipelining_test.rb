# frozen_string_literal: true

require_relative "../../support/http/peer"

# Random requests, all of a connection sent behind each other, cut anywhere, with pauses: as many answers as requests,
# in their order, each to its own request. SEED=1 CONNECTIONS=500
class HTTPPipeliningTest < PeltonTest
  include HttpPeer

  self.deadline = 120

  SEED = Integer(ENV.fetch("SEED", "11"))
  CONNECTIONS = Integer(ENV.fetch("CONNECTIONS", "60"))

  # How fast the machine is must not matter: every connection's requests begin at once, and some bytes come late.
  NO_HURRY = {header_timeout: nil, body_rate: nil, idle_timeout: nil, write_timeout: nil}.freeze

  # What the application does with a request, and how it answers.
  WAYS = %w[plain plain read lines wait later parts stream ignore raise].freeze

  def app
    lambda do |env|
      facts = facts_of(env)
      case env["PATH_INFO"][/[a-z]+/]
      when "wait" then sleep(0.001)
      when "raise" then raise "on purpose"
      when "later"
        Pelton.add_timer(0.001) { env["async.callback"].call([200, {}, [facts]]) }
        throw :async
      when "parts" then return [200, {}, Enumerator.new { |parts| facts.each_char { |char| parts << char } }]
      when "stream" then return [200, {}, proc { |stream| stream.write(facts) && stream.close }]
      end
      [200, {}, [facts]]
    end
  end

  def facts_of(env)
    input = env["rack.input"]
    body =
      case env["PATH_INFO"][/[a-z]+/]
      when "ignore" then nil
      when "lines" then input.each.to_a.join
      else input.read
      end
    "#{env["REQUEST_METHOD"]} #{env["PATH_INFO"]} #{body&.sum}"
  end

  # A request's bytes, and what its answer is.
  Request = Struct.new(:bytes, :verb, :status, :body)

  def request(number, random)
    way = WAYS.sample(random: random)
    path = "/#{way}/#{number}"
    verb, body = random.rand(3).zero? ? [%w[GET HEAD DELETE].sample(random: random),
      ""] : [%w[POST PUT].sample(random: random), random.bytes(random.rand(400))]
    head = "#{verb} #{path} HTTP/1.1\r\nHost: h\r\n#{"X-Filler: #{"x" * random.rand(50)}\r\n" * random.rand(3)}"
    facts = "#{verb} #{path} #{body.sum unless way == "ignore"}"
    bytes = "#{"\r\n" if random.rand(5).zero?}#{head}".b << framed(body, random)
    (way == "raise") ? Request.new(bytes, verb, 500, "Internal Server Error\n") : Request.new(bytes, verb, 200, facts)
  end

  # A body may look like a request.
  def framed(body, random)
    return "\r\n" if body.empty?
    return "Content-Length: #{body.bytesize}\r\n\r\n".b << body if random.rand < 0.5
    chunks = +"".b
    until body.empty?
      chunk, body = body.byteslice(0, size = random.rand(1..200)), body.byteslice(size..) || ""
      chunks << "#{chunk.bytesize.to_s(16)}#{";x=y" if random.rand(4).zero?}\r\n" << chunk << "\r\n"
    end
    "Transfer-Encoding: chunked\r\n\r\n".b << chunks << "0\r\n#{"T: r\r\n" if random.rand(3).zero?}\r\n"
  end

  def send_in_pieces(io, bytes, random)
    longest = [1, 7, 100, 5000].sample(random: random)
    until bytes.empty?
      size = random.rand(1..longest)
      io.write(bytes.byteslice(0, size))
      bytes = bytes.byteslice(size..) || ""
      (random.rand(20).zero? ? sleep(0.0005) : Pelton::Reactor.current.yield) if random.rand < 0.3
    end
  end

  def converse(random)
    requests = Array.new(random.rand(1..30)) { |number| request(number, random) }
    connection = peer
    sender = Pelton.spawn do
      send_in_pieces(connection.io, requests.map(&:bytes).join, random)
      connection.io.close_write
    end
    requests.each do |request|
      response = connection.response(head_only: request.verb == "HEAD")

      assert_equal request.status, response.status, request.bytes
      assert_equal((request.verb == "HEAD") ? nil : request.body, response.body, request.bytes)
    end
    sender.await

    assert_predicate connection, :ended?
    requests.size
  end

  def test_as_many_answers_as_requests_in_their_order
    sum = 0
    serving(app, lint: false, **NO_HURRY) do
      tasks = Array.new(CONNECTIONS) { |number| Pelton.spawn { converse(Random.new(SEED * 100_000 + number)) } }
      sum = tasks.sum(&:await)

      assert_equal [sum, 0], server.stats.values_at(:requests, :refused)
    end
    assert_equal ["on purpose"], reported.map(&:message).uniq
  end

  # The same with a byte that is wrong somewhere: answers up to there, a refusal at most, and nothing that was not asked
  # for.
  def test_a_wrong_byte_somewhere
    serving(app, lint: false, **NO_HURRY) do
      CONNECTIONS.times do |number|
        random = Random.new(SEED * 100_000 + number)
        requests = Array.new(random.rand(1..5)) { |index| request(index, random) }
        bytes = requests.map(&:bytes).join
        at = random.rand(bytes.bytesize)
        bytes.setbyte(at, random.rand(256))
        connection = peer
        sender = Pelton.spawn do
          send_in_pieces(connection.io, bytes, random)
          connection.io.close_write
        rescue SystemCallError
          nil # it was refused meanwhile
        end
        check_answers(connection, requests, at)
        sender.await
      end

      assert_equal "GET /plain 0", peer.get("/plain").body
    end
    assert_empty reported.map(&:message) - ["on purpose"]
  end

  # Whoever closes a socket with unread bytes resets the connection.
  def test_bytes_that_come_while_the_last_response_is_sent_do_not_cut_it_off
    serving(->(_env) { [200, {"connection" => "close"}, ["x" * 10_000_000]] }) do
      connection = peer.say("GET / HTTP/1.1\nHost: h\n\n")
      eventually("the answer") { server.stats[:responses]["2xx"] == 1 }
      connection.say("GET /more HTTP/1.1\nHost: h\n\n")

      assert_equal 10_000_000, connection.response.body.bytesize
      assert_predicate connection, :ended?
    end
  end

  # Requests before the byte are answered as ever; the rest is refused, or answered, too.
  def check_answers(connection, requests, at)
    whole = requests.take_while { |request| (at -= request.bytes.bytesize) >= 0 }
    whole.each do |request|
      response = connection.response(head_only: request.verb == "HEAD")

      assert_equal request.status, response.status, request.bytes
    end
    rest = connection.io.read

    assert_operator rest.scan(%r{HTTP/1\.1 \d{3} }).size, :<=, requests.size - whole.size + 1, rest
  rescue Errno::ECONNRESET
    nil # on a slow machine the server has not waited for the end of what it does not read
  end
end
