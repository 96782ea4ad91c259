# frozen_string_literal: true

require "tmpdir"
require_relative "../test_helper"
require_relative "../support/behind_nginx"
require "pelton/http"

# The client talks to foreign servers.
class HTTPServersTest < PeltonTest
  include BehindNginx

  # A strict server: h11 raises on everything that it does not expect, and then the connection ends. The response
  # repeats the request.
  H11 = <<~PYTHON
    import h11, json, socket

    def receive(connection, sock):
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                if connection.they_are_waiting_for_100_continue:
                    sock.sendall(connection.send(h11.InformationalResponse(status_code=100, headers=[])))
                connection.receive_data(sock.recv(65536))
            else:
                return event

    def answer(connection, sock, number):
        request = receive(connection, sock)
        if type(request) is h11.ConnectionClosed:
            return False
        expected, size, total, trailers = connection.they_are_waiting_for_100_continue, 0, 0, []
        while True:
            event = receive(connection, sock)
            if type(event) is h11.EndOfMessage:
                trailers = [[n.decode(), v.decode()] for n, v in event.headers]
                break
            size += len(event.data)
            total = (total + sum(event.data)) & 0xffff
        facts = dict(method=request.method.decode(), target=request.target.decode(), size=size, sum=total,
                     expected=expected, trailers=trailers, connection=number)
        body = json.dumps(facts).encode()
        path = request.target.split(b"?")[0]
        headers = [("Content-Type", "application/json")]
        if path == b"/hints":
            sock.sendall(connection.send(h11.InformationalResponse(status_code=103, headers=[("Link", "</a>")])))
        if path == b"/empty":
            sock.sendall(connection.send(h11.Response(status_code=204, headers=[])))
            body = b""
        elif path == b"/chunked":
            sock.sendall(connection.send(h11.Response(status_code=200, headers=headers)))
        elif path == b"/close":
            sock.sendall(connection.send(h11.Response(status_code=200, headers=headers + [("Connection", "close")])))
        else:
            sock.sendall(connection.send(h11.Response(status_code=200, headers=headers + [("Content-Length", str(len(body)))])))
        if request.method != b"HEAD":
            for byte in body: # each byte in a piece of its own
                sock.sendall(connection.send(h11.Data(data=bytes([byte]))))
        trailers = [("Digest", "1")] if path == b"/chunked" and request.method != b"HEAD" else []
        sock.sendall(connection.send(h11.EndOfMessage(headers=trailers)))
        if connection.our_state is h11.MUST_CLOSE:
            return False
        connection.start_next_cycle()
        return True

    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    number = 0
    while True:
        sock, _ = listener.accept()
        connection, number = h11.Connection(our_role=h11.SERVER), number + 1
        try:
            while answer(connection, sock, number):
                pass
        except Exception as error:
            print(repr(error), flush=True)
        sock.close()
  PYTHON

  PYTHON = %w[/usr/bin/python3 python3].find { |name| system(name, "-c", "import h11", err: File::NULL) }

  def with_h11
    skip "no h11" unless PYTHON
    IO.popen([PYTHON, "-c", H11], err: %i[child out]) do |server|
      port = Integer(server.gets)
      Pelton.run { yield Pelton::HTTP::Client.new("http://127.0.0.1:#{port}/", proxy: nil, concurrency: 1) }
      Process.kill(:KILL, server.pid)

      assert_empty server.read
    ensure
      Process.kill(:KILL, server.pid)
    end
  end

  def test_h11
    with_h11 do |client|
      bytes = Random.new(3).bytes(300_000)
      sum = bytes.sum(16)
      get, chunked, close = %w[/a?b=c /chunked /close].map { |path| client.get(path).json }

      assert_equal ["GET", "/a?b=c", 0, 1], get.values_at("method", "target", "size", "connection")
      assert_equal ["/chunked", 1], chunked.values_at("target", "connection")
      assert_equal 1, close["connection"]
      assert_equal ["/hints", 2], client.get("/hints").json.values_at("target", "connection")
      assert_equal [204, ""], client.get("/empty").then { |response| [response.status, response.body] }
      assert_equal [[200, ""]] * 2,
        %w[/ /chunked].map { |path| client.head(path).then { |response| [response.status, response.body] } }
      assert_equal [bytes.size, sum, false], client.post("/", body: bytes).json.values_at("size", "sum", "expected")
      assert_equal [bytes.size, sum, true],
        client.post("/", body: bytes, expect: 1).json.values_at("size", "sum", "expected")
      parts = (0...bytes.size).step(70_000).map { |at| bytes.byteslice(at, 70_000) }
      assert_equal [bytes.size, sum, 2],
        client.put("/chunked", body: parts, expect: nil).json.values_at("size", "sum", "connection")
    end
  end

  # Configures nginx to run as one process in the foreground, with all files in one folder.
  CONFIGURATION = <<~NGINX
    daemon off; master_process off; pid %<folder>s/pid; error_log %<folder>s/error.log;
    events { worker_connections 64; }
    http {
      access_log off; gzip on; gzip_min_length 1; gzip_types text/plain; default_type text/plain; keepalive_requests 5;
      client_body_temp_path %<folder>s/body; proxy_temp_path %<folder>s/proxy; fastcgi_temp_path %<folder>s/fastcgi;
      uwsgi_temp_path %<folder>s/uwsgi; scgi_temp_path %<folder>s/scgi; client_max_body_size 1m;
      server {
        listen unix:%<folder>s/socket;
        root %<folder>s;
        location /ok { return 200 "ok"; }
        location /moved { return 302 /ok; }
      }
    }
  NGINX

  def test_nginx
    skip "no nginx" unless NGINX
    Dir.mktmpdir do |folder|
      file = "0123456789abcdef" * 30_000
      File.write("#{folder}/file", file)
      nginx = start_nginx(folder, format(CONFIGURATION, folder: folder))
      # The socket is there before it listens.
      eventually("nginx") do
        UNIXSocket.open("#{folder}/socket") { true }
      rescue Errno::ENOENT, Errno::ECONNREFUSED
        false
      end
      Pelton.run do
        talk_to_nginx(Pelton::HTTP::Client.new("http://nginx/", unix: "#{folder}/socket", concurrency: 2), file)
      end
    ensure
      nginx&.stop("KILL")
    end
  end

  private

  def talk_to_nginx(client, file)
    assert_equal ["ok", "ok"], [client.get("/ok"), client.get("/moved")].map(&:body)
    packed = client.get("/file", decode: false, headers: {"accept-encoding" => "gzip"})

    assert_equal "gzip", packed["content-encoding"]
    assert_equal "chunked", packed["transfer-encoding"]
    assert_equal true, packed.body.bytesize < file.bytesize
    assert_operator file, :==, client.get("/file").body
    assert_operator file, :==, client.get("/file", decode: false).body
    part = client.get("/file", decode: false, headers: {"range" => "bytes=10-19"})
    assert_equal 206, part.status
    assert_equal file[10..19], part.body
    head = client.head("/file")
    assert_equal 200, head.status
    assert_equal "", head.body
    assert_equal [404, 404], [client.get("/no"), client.get("/no", decode: false)].map(&:status)
    assert_equal 413, client.put("/file", body: "x" * 2_000_000).status
    # nginx ends its connections again and again: the callers notice none of these ends.
    bodies = Array.new(60) { Pelton.spawn { client.get("/ok").body } }.map(&:await)

    assert_equal ["ok"], bodies.uniq
  end
end
