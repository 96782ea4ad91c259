# frozen_string_literal: true

require "json"
require "open3"
require "tempfile"
require_relative "../support/http/peer"

# Foreign clients talk to the server.
class HTTPClientsTest < PeltonTest
  include HttpPeer

  # The application answers with the request, so that the client can compare them.
  APP = lambda do |env|
    case env["PATH_INFO"]
    when "/stream" then [200, {}, Enumerator.new { |parts| 5.times { |i| parts << "part #{i}\n" } }]
    when "/empty" then [204, {}, []]
    else
      body = env["rack.input"].read
      facts = {method: env["REQUEST_METHOD"], query: env["QUERY_STRING"], length: body.bytesize, sum: body.sum,
               trailers: env["pelton.trailers"], protocol: env["SERVER_PROTOCOL"]}
      [200, {"content-type" => "application/json"}, [JSON.generate(facts)]]
    end
  end

  def test_curl
    skip "no curl" unless installed?("curl")
    upload = Random.new(3).bytes(2_000_000)
    Tempfile.create("upload") do |file|
      file.binmode
      file.write(upload)
      file.flush
      serving(APP) do
        facts = ->(*arguments) { JSON.parse(curl(*arguments)) }

        assert_equal %w[GET a=b HTTP/1.1], facts["/?a=b"].values_at("method", "query", "protocol")
        assert_equal "HTTP/1.0", facts["-0", "/"]["protocol"]
        assert_equal upload.sum, facts["-T", file.path, "/"]["sum"]
        assert_equal upload.sum, facts["-T", file.path, "-H", "Transfer-Encoding: chunked", "/"]["sum"]
        assert_equal upload.sum,
          facts["-X", "POST", "-H", "Expect: 100-continue", "--data-binary", "@#{file.path}", "/"]["sum"]
        assert_equal Array.new(5) { |i| "part #{i}\n" }.join, curl("/stream")
        assert_match(/204/, curl("-i", "/empty"))
        assert_match(/content-length: \d/, curl("-I", "/"))
        # One connection for all requests.
        assert_equal "200 200 204 200 ",
          curl(*["-o", File::NULL] * 4, "-w", "%{http_code} ", "/", "/stream", "/empty", "/")
      end
    end
  end

  H11 = <<~PYTHON
    import h11, json, socket, sys

    def run(port, request, parts, trailers=()):
        connection = h11.Connection(our_role=h11.CLIENT)
        sock = socket.create_connection(("127.0.0.1", port))
        answers = []
        for _ in range(2):
            sock.sendall(connection.send(request))
            for part in parts:
                sock.sendall(connection.send(h11.Data(data=part)))
            sock.sendall(connection.send(h11.EndOfMessage(headers=list(trailers))))
            body = b""
            while True:
                event = connection.next_event()
                if event is h11.NEED_DATA:
                    connection.receive_data(sock.recv(65536))
                elif type(event) is h11.Response:
                    status = event.status_code
                elif type(event) is h11.Data:
                    body += bytes(event.data)
                elif type(event) is h11.EndOfMessage:
                    break
            answers.append([status, body.decode()])
            connection.start_next_cycle()
        return answers

    port = int(sys.argv[1])
    host = ("Host", "h")
    chunked = h11.Request(method="POST", target="/", headers=[host, ("Transfer-Encoding", "chunked")])
    print(json.dumps([
        run(port, h11.Request(method="GET", target="/?a", headers=[host]), []),
        run(port, h11.Request(method="GET", target="/stream", headers=[host]), []),
        run(port, h11.Request(method="GET", target="/empty", headers=[host]), []),
        run(port, h11.Request(method="HEAD", target="/", headers=[host]), []),
        run(port, chunked, [b"abc", b"defg"], [("Digest", "1")]),
    ]))
  PYTHON

  # A strict client: h11 raises on everything that it does not expect.
  def test_h11
    python = ["/usr/bin/python3", "python3"].find { |name| system(name, "-c", "import h11", err: File::NULL) }
    skip "no h11" unless python
    serving(APP) do
      output, errors, status = Open3.capture3(python, "-c", H11, @port.to_s)

      assert status.success?, errors
      get, stream, empty, head, chunked =
        JSON.parse(output).each { |answers| assert_equal answers[0], answers[1] }.map(&:first)

      assert_equal 200, get[0]
      assert_equal "GET", JSON.parse(get[1])["method"]
      assert_equal [200, Array.new(5) { |i| "part #{i}\n" }.join], stream
      assert_equal [204, ""], empty
      assert_equal [200, ""], head
      assert_equal [7, {"digest" => "1"}], JSON.parse(chunked[1]).values_at("length", "trailers")
    end
  end

  # Four kinds of slow clients at once; another client is served meanwhile.
  def test_slowhttptest
    skip "no slowhttptest" unless installed?("slowhttptest")
    serving(APP, header_timeout: 2, write_timeout: 2) do
      kinds = {"-H" => %w[-i 1], "-B" => %w[-i 1 -s 8192], "-R" => %w[-a 10 -b 3000],
               "-X" => %w[-w 10 -y 20 -n 1 -z 32 -k 3]}
      attacks = kinds.map do |kind, options|
        Process.spawn("slowhttptest", kind, *options, "-c", "100", "-r", "100", "-l", "3", "-p", "1", "-u",
          "http://127.0.0.1:#{@port}/",
          out: File::NULL, err: File::NULL)
      end
      served = 0
      until attacks.empty?
        assert_equal 200, peer.get("/").status
        served += 1
        sleep 0.05
        attacks.reject! { |pid| Process.wait(pid, Process::WNOHANG) }
      end

      assert_operator served, :>, 10
    end
  end

  private

  def installed?(program) = ENV["PATH"].split(":").any? { |folder| File.executable?("#{folder}/#{program}") }

  def curl(*arguments)
    arguments = arguments.map do |argument|
      (argument == "/" || (argument.start_with?("/") &&
        !File.exist?(argument))) ? "http://127.0.0.1:#{@port}#{argument}" : argument
    end
    output, errors, status = Open3.capture3("curl", "-sS", "-m", "10", *arguments)

    assert status.success?, errors
    output
  end
end
