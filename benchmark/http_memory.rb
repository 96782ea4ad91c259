# frozen_string_literal: true

# The memory that a server keeps after a burst: 1,000 clients take large bodies slowly, and leave. Docs: adr/021.
#
#   bundle exec ruby -Ilib benchmark/http_memory.rb [CLIENTS]

require "pelton/http"
require "socket"

CLIENTS = Integer(ARGV.fetch(0, "1000"))
PIECE = 1_000_000

def megabytes(pid, field = "VmRSS") = File.read("/proc/#{pid}/status")[/#{field}:\s+(\d+)/, 1].to_i / 1024

BODIES = {
  "pieces of 1 MB" => -> { Enumerator.new { |all| 20.times { all << ("x" * PIECE) } } },
  "pieces of 10 KB" => -> { Enumerator.new { |all| 2000.times { all << ("x" * 10_000) } } }
}.freeze

def serve(body, ready)
  Pelton.run do
    server = Pelton::HTTP::Server.new(->(_env) { [200, {}, body.call] })
    ready.puts(server.listen("tcp://127.0.0.1:0").port)
  end
end

def measure(body)
  reader, writer = IO.pipe
  pid = fork { serve(body, writer) }
  port = Integer(reader.gets)
  Socket.tcp("127.0.0.1", port) { |one| one.write("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n") && one.read(100_000) }
  sleep 0.5
  before = megabytes(pid)
  sockets = Array.new(CLIENTS) { Socket.tcp("127.0.0.1", port).tap { |one| one.setsockopt(:SOCKET, :RCVBUF, 4096) } }
  sockets.each { |one| one.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n") }
  5.times { sockets.each { |one| one.read_nonblock(65_536, exception: false) } && sleep(1) }
  during = megabytes(pid)
  sockets.each(&:close)
  sleep 8
  [before, during, megabytes(pid, "VmHWM"), megabytes(pid)]
ensure
  Process.kill(:KILL, pid)
  Process.wait(pid)
end

puts format("%-22s %8s %8s %8s %8s  MB", "#{CLIENTS} clients", "before", "during", "peak", "after")
BODIES.each { |name, body| puts format("%-22s %8d %8d %8d %8d", name, *measure(body)) }
