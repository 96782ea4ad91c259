# frozen_string_literal: true

require "fileutils"
require "json"
require "socket"
require "uri"
require_relative "../pelton"
require_relative "address"
require_relative "metrics"

module Pelton
  # The control socket of a server process. It answers `GET /stats` with counters as JSON, `GET /metrics` with the same
  # counters for Prometheus, `GET /tasks` with the tasks as JSON (`pelton status` prints them), and `GET /live` and
  # `GET /ready` with 200, or with 503 and the reason. `POST /purge?path=/posts/*` removes responses from the server's
  # cache (`pelton purge` sends it). It has threads of its own, one for each client: a silent one
  # delays neither a request nor another client, and a blocked loop delays no answer.
  class Control
    MOST = 32 # clients at a time: beyond it the one that came first is closed
    DEADLINE = 1 # seconds for a client's request, and for each pause while the client reads the answer
    TURN = 0.95 # seconds for the loop to answer: a little less than the second that Kubernetes waits

    # Calls the block in a task of a reactor, from another thread, and waits for its value.
    #
    # @return [String, nil] the block's value; or that the loop does not turn
    def self.in_reactor(reactor)
      answer = Thread::Queue.new
      reactor.next_tick { Pelton.spawn(detached: true) { answer << yield } }
      limit = Clock.now + TURN
      sleep 0.005 while answer.empty? && Clock.now < limit # Ruby before 3.2 has no pop with a timeout
      answer.empty? ? "the loop has not answered for #{TURN} s" : answer.pop
    rescue ClosedError
      "the loop has ended"
    end

    # @return [String] the address on which it listens
    attr_reader :address

    # @param address [String] tcp://host:port, unix:///path, or a path. Only its owner may use a UNIX socket; on TCP
    #   every client that can connect can read,
    #   and purge. It is for operators
    # @param stats [Proc] returns a Hash; it is called on a thread of the control socket, and so are the others
    # @param metrics [Proc] returns text, see {Metrics.text}. Calls of `stats`, `metrics` and `tasks` come one after the
    #   other
    # @param tasks [Proc, nil] returns what JSON shows
    # @param live [Proc, nil] returns nil, or why the process does not work; calls may overlap
    # @param ready [Proc, nil] returns nil, or why no requests may come; calls may overlap
    # @param purge [Proc, nil] takes a path, and returns what JSON shows, a Hash, or why it could not; calls may overlap
    # @raise [ArgumentError] when the address has another form
    # @raise [SystemCallError] when it cannot listen there
    def initialize(address, stats:, metrics:, tasks: nil, live: nil, ready: nil, purge: nil)
      turn = Mutex.new
      @answers = {
        "/stats" => ["application/json", -> { ["200 OK", JSON.generate(turn.synchronize(&stats))] }],
        "/metrics" => [Metrics::TYPE, -> { ["200 OK", turn.synchronize(&metrics)] }],
        "/tasks" => (["application/json", -> { ["200 OK", JSON.generate(turn.synchronize(&tasks))] }] if tasks),
        "/live" => (["text/plain", -> { health(live.call) }] if live),
        "/ready" => (["text/plain", -> { health(ready.call) }] if ready)
      }.compact
      @purge = purge
      @server = listen(address)
      @clients = {} # threads by socket
      @thread = Thread.new { answer_all }
    end

    # Closes the descriptors in a child that has inherited them through a fork. The parent's stay open.
    def forget = [@server, *@clients.keys].each(&:close)

    # Stops answering, and removes the UNIX socket.
    def close
      @thread.kill.join
      @clients.each_value(&:kill)
      @server.close
      FileUtils.rm_f(@path) if @path
    end

    private

    def listen(address)
      parsed = Address.new(address.include?("://") ? address : "unix://#{address}")
      raise ArgumentError, "#{address}: it does not speak TLS" if parsed.tls?
      return listen_unix(parsed.path) if parsed.path
      TCPServer.new(parsed.host, parsed.port).tap do |server|
        @address =
          "tcp://#{parsed.host.include?(":") ? "[#{parsed.host}]" : parsed.host}:#{server.local_address.ip_port}"
      end
    rescue SystemCallError => error
      raise error.class, "the control socket #{address}"
    rescue ArgumentError => error
      raise ArgumentError, "the control socket: #{error.message}"
    end

    def listen_unix(path)
      FileUtils.rm_f(path) if File.socket?(path)
      umask = File.umask(0o177)
      UNIXServer.new(path).tap { @path, @address = path, "unix://#{path}" }
    ensure
      File.umask(umask) if umask
    end

    def answer_all
      loop do
        client = @server.accept
        make_room
        @clients[client] = Thread.new { serve(client) }
      rescue SystemCallError, IOError => error
        raise if @server.closed?
        Pelton.logger.warn("the control socket cannot accept a client: #{error.message}")
        sleep 0.1 # it has no more descriptors, and would try again at once
      end
    end

    def make_room
      @clients.select! { |_, thread| thread.alive? }
      @clients.shift.last.kill if @clients.size >= MOST
    end

    def serve(client)
      answer(client)
    rescue SystemCallError, IOError
      nil # the client is gone
    rescue => error
      Pelton.logger.error("the control socket cannot answer: #{error.message} (#{error.class})")
    ensure
      finish(client)
    end

    # Closing alone would not end the connection: a worker that was forked meanwhile has the descriptor, too.
    def finish(client)
      client.shutdown(:WR)
    rescue SystemCallError, IOError
      nil # the client is gone
    ensure
      client.close
    end

    def answer(client)
      return unless client.wait_readable(DEADLINE)
      request = client.read_nonblock(4096, exception: false)
      type, status, body = respond(request.to_s)
      send_all(client, "HTTP/1.1 #{status}\r\nContent-Type: #{type}\r\nContent-Length: #{body.bytesize}\r\n" \
        "Connection: close\r\n\r\n#{body}")
    end

    def respond(request)
      type, content = @answers[request[%r{\AGET (/\w+)[ ?\r\n]}n, 1]]
      return [type, *content.call] if content
      return respond_to_purge(request) if @purge && request.start_with?("POST /purge?path=")
      ["text/plain", "404 Not Found",
        "#{[*@answers.keys.map { |path| "GET #{path}" }, *("POST /purge?path=" if @purge)].join(" or ")}\n"]
    end

    def respond_to_purge(request)
      path = URI.decode_www_form_component(request[/=(\S*)/n, 1])
      unless path.match?(%r{\A/[^\r\n]*\z}n)
        return ["text/plain", "400 Bad Request", "the path begins with /, and has no line ends\n"]
      end
      answer = @purge.call(path)
      return ["text/plain", "503 Service Unavailable", "#{answer}\n"] unless answer.is_a?(Hash)
      ["application/json", "200 OK", JSON.generate(answer)]
    rescue ArgumentError => error
      ["text/plain", "400 Bad Request", "#{error.message}\n"]
    end

    def health(obstacle) = obstacle ? ["503 Service Unavailable", "#{obstacle}\n"] : ["200 OK", "ok\n"]

    def send_all(client, text)
      until text.empty?
        sent = client.write_nonblock(text, exception: false)
        return if sent == :wait_writable && !client.wait_writable(DEADLINE)
        text = text.byteslice(sent..) if sent.is_a?(Integer)
      end
    end
  end
end
