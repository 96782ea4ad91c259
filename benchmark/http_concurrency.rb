# frozen_string_literal: true

# Pages that compute and allocate much, with a short wait in the middle: requests/s and the collector's time by `concurrency:` of the server
# and the number of clients. Needs wrk. Docs: adr/022.
#
#   bundle exec ruby -Ilib benchmark/http_concurrency.rb [ROUNDS]

require "open3"
require "pelton/http"

LIMITS = [1, 2, 4, 8, 16, nil].freeze
CLIENTS = [1, 5, 16, 64].freeze
ROUNDS = Integer(ARGV.fetch(0, "5"))

PAGE = lambda do |env|
  return [200, {}, [GC.stat(:time).to_s]] if env["PATH_INFO"] == "/gc"
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

def collected(port) = Integer(Pelton::HTTP.get("http://127.0.0.1:#{port}/gc").body)

def median(numbers) = numbers.sort[numbers.size / 2]

servers = LIMITS.to_h { |limit| [limit, start(limit)] }
results = Hash.new { |all, key| all[key] = [] }
begin
  servers.each_value { |_, port| abort "wrong page" unless Pelton::HTTP.get("http://127.0.0.1:#{port}/").body == "row 9999!" }
  ROUNDS.times do
    CLIENTS.each do |clients|
      LIMITS.shuffle.each do |limit|
        port = servers[limit].last
        before = collected(port)
        output, = Open3.capture2("wrk", "-t1", "-c#{clients}", "-d1", "http://127.0.0.1:#{port}/")
        requests = Integer(output[/(\d+) requests in/, 1])
        results[[limit, clients]] << [Float(output[%r{Requests/sec:\s+([\d.]+)}, 1]), (collected(port) - before).fdiv(requests)]
      end
    end
  end
ensure
  servers.each_value { |pid, _| Process.kill(:KILL, pid) && Process.wait(pid) }
end

puts format("%-12s%s", "concurrency", CLIENTS.map { |clients| format("%22s", "#{clients} clients") }.join)
LIMITS.each do |limit|
  cells = CLIENTS.map { |clients| results[[limit, clients]].transpose.then { |rates, times| format("%10.1f/s %5.2f ms GC", median(rates), median(times)) } }
  puts format("%-12s%s", limit || "none", cells.join)
end
