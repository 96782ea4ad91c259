# frozen_string_literal: true

require "json"
require "open3"
require_relative "../test_helper"
require "pelton/http"

# Pelton's parser and llhttp, without sockets: both parse valid requests, pipelined and cut anywhere, alike. Each
# mutated message that Pelton accepts is the same message to llhttp, with the same headers, body and
# trailers; Pelton may refuse more. SEED=1 CASES=100000
class LlhttpTest < PeltonTest
  self.deadline = 120

  SEED = Integer(ENV.fetch("SEED", "3"))
  CASES = Integer(ENV.fetch("CASES", "6000"))

  # llhttp may stop where Pelton goes on, for two reasons: it knows only a fixed list of methods, and it stops after the
  # connection's last message.
  STRICTER = %w[HPE_INVALID_METHOD last HPE_CLOSED_CONNECTION].freeze

  # Reads one case a line, in hexadecimal, and writes llhttp's result: [messages, its reason to stop].
  NODE = <<~JS
    const {HTTPParser, methods} = process.binding("http_parser");
    const pairs = list => Array.from({length: list.length / 2}, (_, i) => [list[2 * i], list[2 * i + 1]]);

    function parse(bytes, seed) {
      const parser = new HTTPParser(), messages = [];
      let early = [], url = "", message;
      parser.initialize(HTTPParser.REQUEST, {});
      parser[HTTPParser.kOnHeaders] = (list, part) => { early = early.concat(list); url += part; };
      parser[HTTPParser.kOnHeadersComplete] = (major, minor, list, method, target, status, text, upgrade, keep) => {
        message = {method: methods[method], url: target === undefined ? url : target, headers: pairs(list || early), body: "", trailers: [],
                   minor, last: upgrade || !keep};
        early = [];
        url = "";
        return 0;
      };
      parser[HTTPParser.kOnBody] = part => { message.body += part.toString("latin1"); };
      parser[HTTPParser.kOnMessageComplete] = () => {
        message.trailers = pairs(early);
        early = [];
        url = "";
        messages.push(message);
      };
      for (let at = 0; at < bytes.length;) {
        seed = (seed * 1103515245 + 12345) & 0x7fffffff;
        const size = (seed >> 8) % 40 + 1, result = parser.execute(bytes.subarray(at, at + size));
        if (result instanceof Error) return [messages, result.code];
        if (messages.length && messages[messages.length - 1].last) return [messages, "last"];
        at += size;
      }
      return [messages, null];
    }

    require("readline").createInterface({input: process.stdin}).on("line", line => {
      const bytes = Buffer.from(line, "hex");
      console.log(JSON.stringify(parse(bytes, bytes.length)));
    });
  JS

  FIELDS = ["A: b", "a-b:c", "X-Own:  d  e ", "Accept: */*", "Cookie: a=b; c=d", "X-Latin: \xe4\xff", "X-Empty:",
    "Connection: keep-alive", "TE: trailers",
    "Content-Type: text/plain", "X-Long: #{"x" * 90}"].map(&:b).freeze
  TARGETS = ["/", "/a/b?c=d", "/%41?", "/a?b?c", "/~a;b=c@d:e!$&'()*+,", "/#{"p" * 60}"].freeze

  # Bytes with a meaning in HTTP, and some that are never allowed.
  PIECES = ["\r", "\n", "\r\n", " ", "\t", ":", ";", ",", "0", "1", "f", "\0", "\x7f", "\xff", "chunked",
    "Content-Length: 1\r\n",
    "Transfer-Encoding: chunked\r\n", "\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "0\r\n\r\n", "HTTP/1.0",
    "Connection: close\r\n", "-", "+", "0x", "_"].map(&:b).freeze

  def request(random)
    body = random.bytes(random.rand(60))
    fields = FIELDS.sample(random.rand(4), random: random) << "Host: h"
    framing, bytes =
      case random.rand(3)
      when 0 then [nil, ""]
      when 1 then ["Content-Length: #{body.bytesize}", body]
      else ["Transfer-Encoding: chunked", chunked(body, random)]
      end
    fields << framing if framing
    "#{%w[GET POST PUT PATCH OPTIONS PROPFIND].sample(random: random)} #{TARGETS.sample(random: random)} " \
    "HTTP/1.1\r\n".b +
      fields.shuffle(random: random).map { |field| "#{field}\r\n".b }.join + "\r\n" + bytes
  end

  def chunked(body, random)
    chunks = +"".b
    until body.empty?
      size = random.rand(1..30)
      chunk, body = body.byteslice(0, size), body.byteslice(size..) || ""
      chunks << format(%w[%x %X %03x].sample(random: random), chunk.bytesize) << ["", ";a",
        ";a=b;c=\"d\""].sample(random: random) << "\r\n" << chunk << "\r\n"
    end
    chunks << "0\r\n" << ["", "", "Digest: 1\r\n", "A: b\r\nC:\r\n"].sample(random: random) << "\r\n"
  end

  def mutate(bytes, random)
    random.rand(1..3).times do
      at = random.rand(bytes.bytesize + 1)
      gone = random.rand(3).zero? ? 0 : random.rand(1..4)
      piece = random.rand(4).zero? ? bytes.byteslice(random.rand(bytes.bytesize + 1),
        random.rand(20)) : PIECES.sample(random: random)
      bytes = bytes.byteslice(0, at) + piece + (bytes.byteslice(at + gone..) || "")
    end
    bytes
  end

  # Pelton's result: the messages, and whether it refused the rest.
  def parse(bytes, random)
    parser = Pelton::HTTP::Parser.new(:request)
    messages = []
    message = nil
    until bytes.empty?
      piece, bytes = bytes.byteslice(0, size = random.rand(1..40)), bytes.byteslice(size..) || ""
      parser.feed(piece)
      while (event = parser.next)
        case event
        when Array then message = {"method" => event[0], "url" => [*event[1, 2]].compact.join("?"),
                                   "headers" => event[4], "body" => +"".b, "minor" => event[3][-1].to_i}
        when String then message["body"] << event
        when Hash then messages << message.merge("trailers" => event)
        end
      end
    end
    [messages, false]
  rescue Pelton::ProtocolError, Pelton::LimitError
    [messages, true]
  end

  def latin(value)
    case value
    when String then value.b.force_encoding("ISO-8859-1").encode("UTF-8")
    when Array then value.map { |one| latin(one) }
    else value
    end
  end

  def llhttp(cases)
    output, errors, status = Open3.capture3("node", "--no-deprecation", "-e", NODE,
      stdin_data: cases.map { |bytes| "#{bytes.unpack1("H*")}\n" }.join)
    skip "this node shows no parser: #{errors[0, 200]}" unless status.success?
    output.lines.map { |line| JSON.parse(line) }
  end

  # Pelton drops an empty query, and returns the path of an absolute target.
  def plain(url) = url.delete_suffix("?")

  def compare(bytes, ours, theirs)
    ours.zip(theirs) do |mine, other|
      assert other, "llhttp sees no such message: #{bytes.inspect}"
      assert_equal other.values_at("method", "headers", "body", "minor"),
        %w[method headers body minor].map { |name| latin(mine[name]) }, bytes.inspect
      assert_equal other["trailers"].map { |name, _| name.downcase }.uniq, mine["trailers"].keys, bytes.inspect
      assert_equal plain(other["url"]), plain(mine["url"]), bytes.inspect if other["url"].start_with?("/")
      break if other["last"]
    end
  end

  def test_good_requests_are_the_same_to_both
    random = Random.new(SEED)
    cases = Array.new(CASES / 4) { Array.new(random.rand(1..4)) { request(random) }.join }
    cases.zip(node_or_skip(cases)) do |bytes, (theirs, stopped)|
      ours, refused = parse(bytes, random)

      assert_nil stopped, bytes.inspect
      assert_equal false, refused, bytes.inspect
      assert_equal theirs.size, ours.size, bytes.inspect
      compare(bytes, ours, theirs)
    end
  end

  def test_accepted_mutated_requests_are_the_same_to_both
    random = Random.new(SEED)
    cases = Array.new(CASES) { mutate(Array.new(random.rand(1..3)) { request(random) }.join, random) }
    taken = refusals = 0
    cases.zip(node_or_skip(cases)) do |bytes, (theirs, stopped)|
      ours, refused = parse(bytes, random)
      taken += ours.size
      refusals += 1 if refused
      ours = ours.first(theirs.size) if STRICTER.include?(stopped)
      compare(bytes, ours, theirs)
    end

    assert_operator taken, :>, CASES / 2
    assert_operator refusals, :>, CASES / 4
  end

  # ---- the first lines of chunks

  CHUNKED = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
  TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
  # RFC 9112, 7.1 and 7.1.1, without blanks: llhttp refuses them, too.
  FIRST_LINE =
    /\A0{0,14}5(;#{TOKEN}(=(#{TOKEN}|"([\t !\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t -\x7e\x80-\xff])*"))?)*\r\n\z/n
  # The same with the blanks that RFC 9112 has recipients parse (7.1.1), and that llhttp refuses.
  BLANKS_IN_LINE =
    /\A0{0,14}5([\t ]*;[\t ]*#{TOKEN}([\t ]*=[\t ]*(#{TOKEN}|"([\t !\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t -\x7e\x80-\xff])*"))?)*[\t ]*\r\n\z/n
  LINE_PIECES = [";", ";", ";", "=", "=", "a", "b-c", "1", "\"", "\"", "\"q\"", "\"\"", "\\", "\\\"", ";a=b",
    ";c=\"d\"", " ", "\t", ",", "0", "\r", "\n", "\0", "\x7f",
    "\xe4", "\x01", "'", "@", ":"].map(&:b).freeze

  # Pelton accepts exactly the grammar's lines, and llhttp accepts them as well.
  def test_first_lines_of_chunks_are_accepted_by_the_grammar
    random = Random.new(SEED)
    lines = Array.new(CASES) do
      line = ["5", "5", "5", "05", "#{"0" * random.rand(18)}5", "5 ", " 5", "+5", "0x5", "5;a", "5;a=b", "5;a=\"b",
        ""].sample(random: random).b
      line + LINE_PIECES.sample(random.rand(5), random: random).join + ["\r\n", "\r\n", "\r\n", "\r\n", "\n", "\r",
        "\r\r\n"].sample(random: random)
    end
    cases = lines.map { |line| "#{CHUNKED}#{line}hello\r\n0\r\n\r\n".b }
    taken = 0
    cases.zip(lines, node_or_skip(cases)) do |bytes, line, (theirs, stopped)|
      ours, = parse(bytes, random)
      if FIRST_LINE.match?(line)
        taken += 1
        assert_equal 1, ours.size, line.inspect
        assert_nil stopped, line.inspect
        compare(bytes, ours, theirs)
      elsif !BLANKS_IN_LINE.match?(line)
        assert_empty ours.select { |message| message["body"] == "hello" }, line.inspect
      end
    end

    assert_includes (CASES / 20)..(CASES / 2), taken
  end

  def node_or_skip(cases)
    skip "no node" unless system("node", "--version", out: File::NULL, err: File::NULL)
    llhttp(cases)
  end
end
