# frozen_string_literal: true

# Pages that compute and allocate much, with a short wait in the middle: requests/s, the collector's time and the server's CPU time by `concurrency:` of the server
# and the number of clients. Needs wrk. Docs: adr/022.
#
#   bundle exec ruby -Ilib benchmark/http_concurrency.rb [ROUNDS]

require "open3"
require "pelton/http"

LIMITS = [1, 2, 4, 8, 16, nil].freeze
CLIENTS = [1, 5, 16, 64].freeze
ROUNDS = Integer(ARGV.fetch(0, "5"))

PAGE = lambda do |env|
  return [200, {}, ["#{GC.stat(:time)} #{(Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) * 1000).round}"]] if env["PATH_INFO"] == "/gc"
  rows = Array.new(10_000) { |index| "row #{index}" }
  sleep 0.003
  [200, {}, [rows.map { |row| row + "!" }.last]]
end

def start(limit)
  reader, writer = IO.pipe
  pid = fork do
    @kept = Array.new(300_000) { |index| "kept #{index}" } # a program's own objects
    Pelton.run do
      server = Pelton::HTTP::Server.new(PAGE, **(limit ? {concurrency: limit} : {}))
      writer.puts(server.listen("tcp://127.0.0.1:0").port)
    end
  end
  [pid, Integer(reader.gets)]
end

# Milliseconds of the collector, and of the server's CPU.
def spent(port) = Pelton::HTTP.get("http://127.0.0.1:#{port}/gc").body.split.map(&:to_f)

def median(numbers) = numbers.sort[numbers.size / 2]

servers = LIMITS.to_h { |limit| [limit, start(limit)] }
results = Hash.new { |all, key| all[key] = [] }
begin
  servers.each_value { |_, port| abort "wrong page" unless Pelton::HTTP.get("http://127.0.0.1:#{port}/").body == "row 9999!" }
  ROUNDS.times do
    CLIENTS.each do |clients|
      LIMITS.shuffle.each do |limit|
        port = servers[limit].last
        before = spent(port)
        output, = Open3.capture2("wrk", "-t1", "-c#{clients}", "-d1", "http://127.0.0.1:#{port}/")
        requests = Integer(output[/(\d+) requests in/, 1])
        results[[limit, clients]] << [Float(output[%r{Requests/sec:\s+([\d.]+)}, 1]), *spent(port).zip(before).map { |now, then_| (now - then_) / requests }]
      end
    end
  end
ensure
  servers.each_value { |pid, _| Process.kill(:KILL, pid) && Process.wait(pid) }
end

puts "medians: requests/s, ms of the collector a request, ms of CPU a request"
puts format("%-12s%s", "concurrency", CLIENTS.map { |clients| format("%30s", "#{clients} clients") }.join)
LIMITS.each do |limit|
  cells = CLIENTS.map { |clients| results[[limit, clients]].transpose.map { |numbers| median(numbers) }.then { |all| format("%10.1f/s %5.2f GC %6.2f CPU", *all) } }
  puts format("%-12s%s", limit || "none", cells.join)
end
