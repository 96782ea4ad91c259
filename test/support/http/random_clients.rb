# frozen_string_literal: true

require "openssl"
require "socket"
require "tempfile"
require "timeout"
require "pelton/http"
require "pelton/http/websocket"
require_relative "../certificates"
require_relative "../websocket_peer"

# A random server, whose applications stream, take uploads, and hold WebSockets and event streams; and clients that
# leave, with FIN or RST, when the application is about to wait, waits, or has waited. Application and clients are in
# one process, so the application itself makes its client leave, at the very moment that is to be tried. The same seed
# makes the same decisions again, though not at the same moments.
class RandomClients
  LIMITS = {concurrency: 3, queue: 3, header_timeout: 0.03, idle_timeout: 0.03, request_timeout: 0.03,
            write_timeout: 0.03,
            max_requests: 6}.freeze
  KINDS = %i[array events stream bulk file upload later websocket hijack hijack_body slow_objects failing public].freeze
  BULK = "x" * 60_000

  # What an application may raise.
  class Own < StandardError
  end

  # Waits wherever a server may ask something of a response.
  class SlowBody
    def initialize(steps) = @steps = steps

    def to_ary
      @steps.call
      ["slow"]
    end

    def each = yield(to_ary.first)

    def close = @steps.call
  end

  # As an application's own Hash of headers.
  class SlowHeaders
    def initialize(steps) = @steps = steps

    def to_hash
      @steps.call
      {"content-type" => "text/plain"}
    end
  end

  attr_reader :seed

  def initialize(seed)
    @seed = seed
    @random = Random.new(seed)
    @sockets = {}
    @begun = @finished = 0
    @problems = []
  end

  def to_s = "program #{@seed} of clients"

  # @return [Array<String>] what was wrong
  def call
    level, Pelton.logger.level = Pelton.logger.level, :error # not each handshake that fails
    @file = Tempfile.create("pelton").tap { |file| file.write(BULK * 10) && file.flush }
    handler = Pelton.on_error { |error| @problems << "reported: #{error.inspect}" unless expected?(error) }
    Pelton.run(grace: 0.01) { serve }
    GC.start # whatever still refers to a connection that is gone is found now
    @problems
  ensure
    Pelton.logger.level = level
    Pelton.on_error(&handler)
    @file&.close
    File.unlink(@file) if @file
  end

  private

  def expected?(error) = [Own, Pelton::Error, IOError, SystemCallError].any? { |type| error.is_a?(type) }

  def chance(part) = @random.rand < part

  def serve
    @server = server = Pelton::HTTP::Server.new(method(:answer), **LIMITS.select { chance(0.3) },
      cache: (1 << 20 if (@cached = chance(0.4))))
    @secure = chance(0.15)
    @port = listen(server)
    clients = Array.new(1 + @random.rand(8)) { |number| Pelton.spawn { client(number) } }
    return sleep(@random.rand * 0.01) if chance(0.1) # the run ends while all are busy
    clients.each(&:await)
    server.stop(timeout: 0.02) if chance(0.5)
    @sockets.each_value(&:close)
    nothing_left(server)
  ensure
    Pelton.stop
  end

  def listen(server)
    return server.listen("tcp://127.0.0.1:0").port unless @secure
    server.listen("ssl://127.0.0.1:0", tls: Certificates.server.to_h).port
  end

  def nothing_left(server)
    Timeout.timeout(10) do
      sleep 0.001 until server.stats.values_at(:connections, :running, :waiting).sum.zero? && @begun == @finished
    end
  rescue Timeout::Error
    @problems << "left: #{server.stats}, #{@begun} requests began and #{@finished} ended"
  end

  # ---- clients ----

  def client(number)
    io = @sockets[number] = TCPSocket.new("127.0.0.1", @port)
    io = @sockets[number] = secured(io) if @secure
    reader = Pelton.spawn { read(io) }
    Timeout.timeout(0.15) do
      (1 + @random.rand(3)).times { ask(io, number) }
      reader.await unless chance(0.3)
    end
  rescue SystemCallError, IOError, Timeout::Error, OpenSSL::SSL::SSLError
    # somebody has left
  ensure
    reader&.cancel
    leave(number)
  end

  def secured(io)
    OpenSSL::SSL::SSLSocket.new(io).tap do |socket|
      socket.sync_close = true
      chance(0.2) ? io.write("\x16\x03\x01\x02\x00") : socket.connect
    end
  end

  def ask(io, number)
    kind = (@cached && chance(0.8)) ? :public : KINDS.sample(random: @random)
    method = (kind == :upload) ? "POST" : %w[GET GET GET HEAD].sample(random: @random)
    head = "#{method} /#{number}/#{kind} HTTP/1.#{chance(0.1) ? 0 : 1}\r\nhost: h\r\n"
    case kind
    when :upload then upload(io, head)
    when :public then ask_for_public(io)
    when :websocket then websocket(io, "GET /#{number}/#{kind} HTTP/1.1\r\nhost: h\r\n")
    else io.write("#{head}\r\n")
    end
    io.close_write if !@secure && chance(0.1)
  end

  # Of few paths, so that many ask for one at once. With a User-Agent its response is kept by a second run only.
  def ask_for_public(io)
    io.write("GET /#{@random.rand(2)}/public HTTP/1.1\r\nhost: h\r\n", chance(0.5) ? "user-agent: me\r\n" : "",
      chance(0.3) ? "connection: close\r\n" : "", "\r\n")
  end

  def upload(io, head)
    pieces = Array.new(1 + @random.rand(5)) { "u" * (1 + @random.rand(20_000)) }
    whole = pieces.sum(&:bytesize) + (chance(0.2) ? 1 : 0) # of which one byte never comes
    io.write(head, chance(0.3) ? "expect: 100-continue\r\n" : "", "content-length: #{whole}\r\n\r\n")
    pieces.each { |piece| io.write(piece) && pause }
  end

  def websocket(io, head)
    io.write(head, "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n",
      "sec-websocket-key: #{WebSocketPeer::KEY}\r\n\r\n")
    @random.rand(4).times do
      io.write(WebSocketPeer.encode(0x81, 5, "hello", mask: true))
      pause
    end
    io.write(WebSocketPeer.encode(0x88, 2, "\x03\xe8", mask: true)) if chance(0.3)
  end

  # Fast, slowly, or not at all.
  def read(io)
    slow = chance(0.3)
    return if chance(0.1)
    while io.readpartial(65_536)
      pause if slow
    end
  rescue SystemCallError, IOError, OpenSSL::SSL::SSLError
    # the end
  end

  def leave(number)
    io = @sockets[number]
    return if io.nil? || io.closed?
    io.to_io.setsockopt(:SOCKET, :LINGER, [1, 0].pack("ii")) if chance(0.5)
    chance(0.1) ? io.to_io.close_write : io.to_io.close
  rescue SystemCallError, IOError
    # the server was first
  end

  def pause = sleep([0, 0.0002, 0.002].sample(random: @random))

  # ---- the applications ----

  # The application is at a moment at which it waits, or where its client may leave.
  def step(number)
    leave(number) if chance(0.06)
    pause if chance(0.3)
    GC.start(full_mark: chance(0.3)) if chance(0.01)
  end

  def answer(env)
    _, number, kind = env["PATH_INFO"].split("/")
    number = Integer(number)
    counted(env) unless %w[websocket hijack hijack_body].include?(kind) # whose end is not the server's
    step(number)
    __send__("answer_#{kind}", env, number)
  end

  def counted(env)
    @begun += 1
    env["rack.response_finished"] << ->(*) { @finished += 1 }
    env["async.close"].callback { pause } if chance(0.3)
  end

  def answer_array(_env, _number) = [200, {}, ["hello"] * 3]

  def answer_public(_env, number)
    3.times { step(number) }
    @server.purge("/*") if chance(0.05)
    raise Own, "nothing to keep" if chance(0.1)
    [200, {"cache-control" => chance(0.8) ? "public, max-age=60" : "private"}, ["hello"]]
  end

  def answer_events(_env, number)
    events = Pelton::HTTP::EventStream.new do |stream|
      (1 + @random.rand(5)).times { stream.emit("x" * @random.rand(500)).then { step(number) } }
    end
    [200, events.headers, events]
  end

  def answer_stream(_env, number)
    body = lambda do |stream|
      @random.rand(6).times do
        step(number)
        stream.write("x" * @random.rand(30_000))
        stream.flush if chance(0.3)
      end
    ensure
      pause
      stream.close
    end
    [200, {}, body]
  end

  def answer_bulk(_env, number)
    [200, {}, pieces(BULK, 1 + @random.rand(30), number)]
  end

  def answer_file(_env, _number)
    path = @file.path
    body = Struct.new(:to_path) { def each = yield(File.binread(to_path)) }.new(path)
    [200, {}, body]
  end

  def answer_upload(env, number)
    while (part = env["rack.input"]&.read(1 + @random.rand(9000)))
      step(number)
      break if chance(0.02)
    end
    [200, {}, [part.to_s]]
  end

  def answer_later(env, number)
    Pelton.spawn(detached: true) do
      step(number)
      kind = %i[array stream bulk events].sample(random: @random)
      env["async.callback"].call(__send__("answer_#{kind}", env, number))
    end
    [-1, {}, []]
  end

  def answer_websocket(env, number)
    Pelton::HTTP::WebSocket.accept(env) do |socket|
      socket.each do |message|
        step(number)
        socket.write(message * (1 + @random.rand(3000)))
      end
    end
  end

  def answer_hijack(env, number)
    io = env["rack.hijack"].call
    step(number)
    io.write("HTTP/1.1 200 OK\r\n\r\n#{"h" * @random.rand(20_000)}")
    [200, {}, []]
  ensure
    io&.close
  end

  def answer_hijack_body(_env, number)
    receiver = lambda do |io|
      step(number)
      io.write("held")
    ensure
      io.close
    end
    [200, {"rack.hijack" => receiver}, []]
  end

  def answer_slow_objects(_env, number) = [200, SlowHeaders.new(-> { step(number) }), SlowBody.new(-> { step(number) })]

  def answer_failing(_env, number)
    raise Own, "before the response" if chance(0.5)
    [200, {}, pieces("part", 2, number) { raise Own, "within the body" }]
  end

  def pieces(piece, count, number)
    Enumerator.new do |parts|
      count.times { (parts << piece).then { step(number) } }
      yield if block_given?
    end
  end
end
