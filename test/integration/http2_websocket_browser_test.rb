# frozen_string_literal: true

require "test_helper"
require "support/certificates"
require "support/chromium"
require "support/http/servers"
require "pelton/http"
require "pelton/http/websocket"
require "websocket/driver"

# Chromium opens a WebSocket as a stream of the HTTP/2 connection by which its page has come (RFC 8441).
class Http2WebSocketBrowserTest < PeltonTest
  include HttpServers

  self.deadline = 120

  Socket = Pelton::HTTP::WebSocket

  PAGE = <<~HTML
    <!doctype html><link rel="icon" href="data:,"><script>
      const open = path => new Promise((resolve, reject) => {
        const socket = new WebSocket(`wss://${location.host}${path}`)
        const messages = []
        socket.onopen = () => resolve(socket)
        socket.onerror = () => reject(new Error(`no socket at ${path}`))
        socket.onclose = event => socket.ended = [event.code, event.reason]
        socket.onmessage = event => messages.push(event.data)
        socket.next = async () => {
          while (!messages.length) await new Promise(next => setTimeout(next, 5))
          return messages.shift()
        }
        socket.end = async () => {
          while (!socket.ended) await new Promise(next => setTimeout(next, 5))
          return socket.ended
        }
      })
    </script>
  HTML

  def setup
    super
    skip "Chromium is not installed" unless Chromium.path
    skip "Pelton is built without HTTP/2" unless Pelton::HTTP.http2?
  end

  def test_messages_and_the_end
    seen = Queue.new
    app = lambda do |env|
      seen << env["SERVER_PROTOCOL"]
      Socket.accept(env, protocols: ["echo"]) { |socket| socket.each { |message| socket.write(message) } }
    end
    browsing(app) do |browser, stop|
      browser.evaluate("open('/echo').then(socket => { window.socket = socket })")
      assert_equal "HTTP/2", seen.pop
      assert_equal "hello", browser.evaluate("socket.send('hello'), socket.next()")
      assert_equal 3_000_000,
        browser.evaluate("socket.send('ä'.repeat(3000000)), socket.next().then(text => text.length)")
      browser.evaluate("open('/echo').then(socket => { window.other = socket })")
      assert_equal [1000, "enough"], browser.evaluate("other.close(1000, 'enough'), other.end()")
      assert_equal "page", browser.evaluate("fetch('/page').then(response => response.text())")
      stop.call
      assert_equal [1001, "the server stops"], browser.evaluate("socket.end()")
    end
  end

  def test_an_application_that_refuses
    browsing(->(_env) { [403, {}, ["no"]] }) do |browser|
      assert_equal "Error: no socket at /no", browser.evaluate("open('/no').catch(error => String(error))")
    end
  end

  # Chromium comes back with HTTP/1.1, where the program takes the connection over.
  def test_a_program_that_speaks_http_1_by_itself
    seen = Queue.new
    app = lambda do |env|
      seen << env["SERVER_PROTOCOL"]
      io = env["rack.hijack"].call
      wire = Struct.new(:env, :io) { def write(bytes) = io.write(bytes) }.new(env, io)
      ::WebSocket::Driver.rack(wire).tap(&:start).text("by itself")
      [-1, {}, []]
    end
    reported = errors_reported do
      browsing(app) do |browser|
        assert_equal "by itself", browser.evaluate("open('/').then(socket => socket.next())")
        assert_equal %w[HTTP/2 HTTP/1.1], [seen.pop, seen.pop]
      end
    end
    assert_match(/http2_websockets/, reported.first)
  end

  private

  def browsing(app)
    pages = lambda do |env|
      next app.call(env) if Socket.request?(env)
      (env["PATH_INFO"] == "/page") ? [200, {}, ["page"]] : [200, {"content-type" => "text/html"}, [PAGE]]
    end
    serving_on_a_thread(pages, tls: Certificates.server.to_h) do |port, on_loop|
      Chromium.open do |browser|
        browser.trust_all
        browser.visit("https://127.0.0.1:#{port}/")
        yield browser, -> { on_loop.call { |server| Pelton.spawn { server.stop(timeout: 10) } } }
      end
    end
  end
end
