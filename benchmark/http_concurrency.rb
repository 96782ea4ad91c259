# frozen_string_literal: true

# Pages that compute, allocate and wait for another process in turns: requests/s, the server's CPU time and the collector's a page, by `limit:` of the
# server, and on Puma with three threads; 16 clients. Each contender has a process on the first core; client and service have the second. Pages are counted,
# since a round by time leaves many under way. Needs ab, taskset and the gem puma. Docs: adr/037.
#
#   bundle exec ruby -Ilib benchmark/http_concurrency.rb [ROUNDS [PAGES]]

require "open3"
require "pelton/http"
require "puma"
require "puma/server"

LIMITS = {"no limit" => nil, "limit 3" => 3, "limit 1" => 1, "Puma, 3 threads" => :puma}.freeze
ROUNDS, PAGES, CLIENTS = Integer(ARGV.fetch(0, "5")), Integer(ARGV.fetch(1, "100")), 16
OPEN = [] # connections to the service that no request uses

def on_core(number) = system("taskset", "-acp", number.to_s, Process.pid.to_s, out: File::NULL)

# The service beside: it answers each byte with a byte.
def serve_bytes(writer)
  on_core(1)
  Pelton.run do
    listener = Pelton.listen("127.0.0.1", 0) { |stream| stream.on_data { |bytes| stream.write(bytes) } }
    writer.puts(listener.port)
  end
end

def ask(port)
  socket = OPEN.pop || TCPSocket.new("127.0.0.1", port)
  socket.write("x")
  socket.readpartial(1)
ensure
  OPEN.push(socket)
end

def page(port)
  parts = Array.new(8) do |part|
    rows = Array.new(2_500) { |index| {id: index, name: "row #{index} of #{part}", at: index.to_f} }
    ask(port)
    [rows, rows.map { |row| "<li>#{row[:name]} #{row[:id]} #{row[:at]}</li>" }]
  end
  "#{parts.sum { |rows, lines| rows.size + lines.size }} objects"
end

def application(service)
  kept = Array.new(400_000) { |index| "kept #{index}" } # a program's own objects
  lambda do |env|
    next [200, {}, [page(service)]] unless env["PATH_INFO"] == "/spent"
    [200, {}, ["#{GC.stat(:time)} #{(Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) * 1_000_000).round} #{kept.size}"]]
  end
end

def serve(limit, service, writer)
  on_core(0)
  if limit == :puma
    server = Puma::Server.new(application(service), nil, min_threads: 3, max_threads: 3)
    writer.puts(server.add_tcp_listener("127.0.0.1", 0).addr[1])
    server.run.join
  else
    Pelton.run { writer.puts(Pelton::HTTP::Server.new(application(service), **(limit ? {limit: limit} : {})).listen("tcp://127.0.0.1:0").port) }
  end
end

def start
  reader, writer = IO.pipe
  pid = fork { yield writer }
  writer.close
  [pid, Integer(reader.gets || abort("a server did not start"))]
end

# Milliseconds of the collector, and of the server's CPU.
def spent(port) = Pelton::HTTP.get("http://127.0.0.1:#{port}/spent").body.split.first(2).map(&:to_f).then { |collector, cpu| [collector, cpu / 1000] }

def median(numbers) = numbers.sort[numbers.size / 2]

results = Hash.new { |all, key| all[key] = [] }
processes = [start { |writer| serve_bytes(writer) }]
service = processes.first.last
begin
  servers = LIMITS.transform_values { |limit| start { |writer| serve(limit, service, writer) }.tap { |process| processes << process }.last }
  (ROUNDS + 1).times do |round|
    LIMITS.keys.shuffle.each do |name|
      before = spent(port = servers[name])
      output, = Open3.capture2e("taskset", "-c", "1", "ab", "-q", "-k", "-n", PAGES.to_s, "-c", CLIENTS.to_s, "http://127.0.0.1:#{port}/")
      abort output unless output.include?("Failed requests:        0")
      figures = [Float(output[/Requests per second:\s+([\d.]+)/, 1]), Float(output[/ 99%\s+(\d+)/, 1]), *spent(port).zip(before).map { |now, then_| (now - then_) / PAGES }]
      results[name] << figures if round > 0
    end
  end
ensure
  processes.each { |pid, _| Process.kill(:KILL, pid) && Process.wait(pid) }
end

puts RUBY_DESCRIPTION, "medians of #{ROUNDS} rounds of #{PAGES} pages: pages/s, ms of the 99th percentile, ms of the collector a page, ms of CPU a page (least and most)"
results.each do |name, figures|
  puts format("%-16s %7.1f/s %6.0f %6.2f GC %6.2f CPU (%.2f - %.2f)", name, *figures.transpose.map { |one| median(one) }, *figures.map(&:last).minmax)
end
