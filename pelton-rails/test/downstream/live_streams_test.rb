# frozen_string_literal: true

require "json"
require_relative "../support/rails_serving"

# Responses that last, large files and mail, in an application of Rails (support/waiting) that one process serves.
class LiveStreamsTest < PeltonTest
  include RailsServing

  self.deadline = 60

  MEGABYTE = 1 << 20

  # A server of SMTP on a thread: it takes one message, and answers the last line only when it may.
  class PostOffice
    attr_reader :port, :message

    def initialize
      @listener = TCPServer.new("127.0.0.1", 0)
      @port = @listener.addr[1]
      @may_answer = Queue.new
      @asked = Queue.new
      @thread = Thread.new { serve(@listener.accept) }
    end

    # Waits until the whole message is here.
    def await_message = @asked.pop

    def answer
      @may_answer << true
      @thread.join(20)
    end

    def close
      @thread.kill
      @listener.close
    end

    private

    def serve(socket)
      socket.write("220 here\r\n")
      while (line = socket.gets)
        case line
        when /\AEHLO|\AHELO/ then socket.write("250 here\r\n")
        when /\ADATA/ then take(socket)
        when /\AQUIT/ then break socket.write("221 bye\r\n")
        else socket.write("250 ok\r\n")
        end
      end
    ensure
      socket.close
    end

    def take(socket)
      socket.write("354 go on\r\n")
      @message = socket.gets("\r\n.\r\n", chomp: true).gsub("\r\n", "\n")
      @asked << true
      @may_answer.pop
      socket.write("250 taken\r\n")
    end
  end

  def test_streams_end_when_their_client_leaves_mail_stalls_nobody_and_large_files_pass_through
    office = PostOffice.new
    @serving = serve("waiting", environment: {"SMTP_PORT" => office.port.to_s})
    streams_end
    mail(office)
    files

    assert_equal 0, @serving.stop.exitstatus
  ensure
    office.close
  end

  def test_a_stop_ends_streams
    @serving = serve("waiting", environment: {"PELTON_SHUTDOWN_TIMEOUT" => "1"})
    peer = @serving.peer.say("GET /live/silent HTTP/1.1\nHost: localhost\n\n")
    assert_match(/\AHTTP\/1\.1 200 /, peer.io.readpartial(4000))

    assert_equal 0, @serving.stop.exitstatus, @serving.output
    assert_equal 1, @serving.output.scan("a stream has ended").size
    refute_match(/error/i, @serving.output)
  ensure
    peer&.close
  end

  def test_a_request_ends_when_its_client_leaves_though_the_stream_goes_on
    @serving = serve("waiting")
    peer = @serving.peer.say("GET /live/asleep HTTP/1.1\nHost: localhost\n\n")
    await_text(peer, "data: once")

    assert_equal 2, counts["requests"]
    peer.close
    eventually("the end of the request") { counts["requests"] == 1 || (sleep(0.02) && nil) }
    assert_empty counts["ended"]
    @serving.get("/wake")
    eventually("the end of the stream") { counts["ended"]["asleep"] || (sleep(0.02) && nil) }
  end

  # Fibers serve again: what one has from a stream must not get into a later request, nor the other way round.
  def test_streams_share_their_state_with_their_own_request_alone_and_give_connections_back
    @serving = serve("waiting")
    peers = Array.new(4) { @serving.peer.say("GET /live/lasting?visitor=first HTTP/1.1\nHost: localhost\n\n") }
    peers.each { |peer| await_text(peer, "for first: x") }
    peers.each(&:close) # the requests end, their streams go on
    eight = %w[a b c d e f g h]

    assert_equal eight, visit(eight)
    eventually("the end of the streams") { counts["ended"]["lasting"] == 4 || (sleep(0.02) && nil) }
    assert_equal 0, counts["connections"]
    assert_empty counts["seen"] - ["first", nil]
    assert_equal eight, visit(eight)
  end

  private

  def visit(names) = names.map { |name| Thread.new { @serving.body("/visitor?visitor=#{name}") } }.map(&:value)

  def await_text(peer, text)
    seen = +""
    seen << peer.io.readpartial(4000) until seen.include?(text)
  end

  def counts = JSON.parse(@serving.body("/counts"))

  def streams_end
    before = counts
    peers = %w[/live/endless /live/silent /live/unread /streams/endless].map do |path|
      peer = @serving.peer.say("GET #{path} HTTP/1.1\nHost: localhost\n\n")
      assert_match(/\AHTTP\/1\.1 200 /, peer.io.readpartial(4000))
      peer
    end
    assert_equal before["threads"], counts["threads"]
    peers.each(&:close)
    eventually("the end of the streams") do
      counts["ended"] == {"live" => 1, "silent" => 1, "unread" => 1, "enumerator" => 1} || (sleep(0.02) && nil)
    end
    eventually("the end of their tasks") { counts["tasks"] == before["tasks"] || (sleep(0.02) && nil) }
  end

  def mail(office)
    sender = Thread.new { @serving.body("/mail") }
    office.await_message

    assert_equal "hello", @serving.body("/plain")
    assert_predicate sender, :alive?
    office.answer
    assert_equal "delivered", sender.value
    assert_match(/^Subject: A notice$.*^Something has happened\.$/m, office.message)
  end

  # 50 MB each way; the first, small, file loads the code.
  def files
    check_file("x" * 1000)
    content = Random.new(5).bytes(50 * MEGABYTE)
    check_file(content)
    before = memory
    2.times { check_file(content) } # 300 MB pass

    # Active Storage's proxy has up to ten parts of 5 MB in ActionController::Live's queue, more or fewer each time.
    assert_operator memory - before, :<, 60 * MEGABYTE
  end

  def check_file(content)
    id = upload(content)
    %w[redirect proxy].each do |way|
      location = @serving.get("/documents/#{id}?by=#{way}")["location"][%r{localhost(?::\d+)?(/.*)}, 1]
      location = @serving.get(location)["location"][%r{localhost(?::\d+)?(/.*)}, 1] if way == "redirect"

      assert_operator @serving.body(location), :==, content, way
    end
  end

  def upload(content)
    body =
      %(--B\r\ncontent-disposition: form-data; name="file"; filename="large.bin"\r\n).b <<
      "content-type: application/octet-stream\r\n\r\n" <<
      content.b <<
      "\r\n--B--\r\n"
    response = @serving.post("/documents", body, "content-type: multipart/form-data; boundary=B\n")

    assert_equal 200, response.status, @serving.output
    response.body
  end

  # Peak, in bytes.
  def memory = File.read("/proc/#{@serving.pid}/status")[/VmHWM:\s+(\d+)/, 1].to_i * 1024
end
