# frozen_string_literal: true

require "json"
require "open3"
require_relative "../test_helper"
require_relative "../support/http_peer"

# Compares Pelton's parser with llhttp, the parser of node: bytes that Pelton parses as requests, llhttp parses as the same requests. Pelton may
# refuse more than llhttp does.
class LlhttpTest < PeltonTest
  include HttpPeer

  self.deadline = 120

  NODE = <<~JS
    const http = require("http");
    const server = http.createServer({requireHostHeader: true}, (request, response) => {
      const parts = [];
      request.on("data", part => parts.push(part));
      request.on("end", () => response.end(JSON.stringify([request.method, request.url, Buffer.concat(parts).toString("latin1")]) + "\\n"));
    });
    server.keepAliveTimeout = 0;
    server.on("checkExpectation", (request, response) => { response.statusCode = 417; response.end(); });
    server.on("connect", (request, socket) => socket.end());
    server.on("upgrade", (request, socket) => socket.end());
    server.listen(0, "127.0.0.1", () => console.log(server.address().port));
    process.stdin.resume();
    process.stdin.on("end", () => process.exit());
  JS

  APP = lambda do |env|
    facts = [env["REQUEST_METHOD"], env["REQUEST_URI"], env["rack.input"].read.encode("UTF-8", "ISO-8859-1")]
    [200, {}, ["#{JSON.generate(facts)}\n"]]
  end

  # The parts from which requests are made; most are valid.
  PARTS = {
    method: ["GET", "POST", "PUT", "DELETE", "OPTIONS", "G ET", "GET\t", ""],
    target: ["/", "/a/b?c=d", "/%41", "*", "http://h/x", "/a b", "/\t", "x", "/#f", ""],
    version: ["HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/1.2", "HTTP/11", "http/1.1", "HTTP/2.0"],
    line_end: ["\r\n"] * 30 + ["\n", "\r", "\r\r\n", " \r\n", "\n\r\n"],
    header: ["A: b", "A:b", "A:  b \t", "A:", "Content-Length: 0", "Content-Length: 3", "Content-Length: 3", "Content-Length: +3", "Content-Length: 3,3",
      "Content-Length: 0x3", "Content-Length: ", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked", "Transfer-Encoding: xchunked",
      "Transfer-Encoding: chunked, identity", "Transfer-Encoding : chunked", "transfer-encoding:\tchunked", " folded", "A : b", ": b", "A\0: b",
      "A: \x01", "A: \x7f", "A: \xff", "Connection: close", "Connection: keep-alive", "Content_Length: 3", "X-A: #{"y" * 50}"],
    body: ["", "", "abc", "abcabc", "3\r\nabc\r\n0\r\n\r\n", "3;x=y\r\nabc\r\n0\r\n\r\n", "3\r\nabc\r\n0\r\nT: r\r\n\r\n", "0x3\r\nabc\r\n0\r\n\r\n",
      "3\nabc\r\n0\r\n\r\n", "3\r\nabcd\r\n0\r\n\r\n", "+3\r\nabc\r\n0\r\n\r\n", "3\r\nabc0\r\n\r\n", "-1\r\n\r\n", "fffffffffffffffff\r\nabc",
      "3 \r\nabc\r\n0\r\n\r\n", "3\r\nabc\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"]
  }.freeze

  def test_llhttp_parses_accepted_requests_alike
    skip "no node" unless system("node", "--version", out: File::NULL, err: File::NULL)
    random = Random.new(Integer(ENV.fetch("SEED", "7")))
    cases = Array.new(1500) { generated(random) }
    taken = serve_all(cases)
    theirs = node_all(cases)

    assert_operator taken.count(&:any?), :>, 100, "too few cases are right"
    cases.zip(taken, theirs) do |bytes, ours, node|
      count = [ours.size, node.size].min

      assert_equal ours.first(count), node.first(count), bytes.inspect
      # When no byte follows the head, node has no other reason to refuse the request.
      assert_equal ours, node.first(ours.size), bytes.inspect if bytes.end_with?("\r\n\r\n") && bytes.scan("\r\n\r\n").one?
    end
  end

  private

  def generated(random)
    pick = ->(kind) { PARTS.fetch(kind).sample(random: random).b }
    right = random.rand < 0.5 # in a right request only the headers are random
    line = right ? "POST /a?b HTTP/1.1\r\n" : "#{pick[:method]} #{pick[:target]} #{pick[:version]}#{pick[:line_end]}"
    ends = ->(text) { text + (right ? "\r\n" : pick[:line_end]) }
    headers = Array.new(random.rand(0..3)) { ends[pick[:header]] }.join
    "#{line}#{ends["Host: h"]}#{headers}#{right ? "\r\n" : pick[:line_end]}#{pick[:body]}".b
  end

  def serve_all(cases)
    serving(APP, lint: false, header_timeout: 0.2) { return_all(@port, cases) }
    @answers
  end

  def node_all(cases)
    Open3.popen2("node", "-e", NODE) do |input, output, _process|
      return_all(Integer(output.gets), cases)
      input.close
    end
    @answers
  end

  def return_all(port, cases)
    @answers = cases.map do |bytes|
      TCPSocket.open("127.0.0.1", port) do |socket|
        socket.write(bytes)
        socket.close_write
        socket.read.lines.filter_map { |line| JSON.parse(line[/\[.*\]/]) if line.match?(/\["/) }
      rescue SystemCallError
        []
      end
    end
  end
end
