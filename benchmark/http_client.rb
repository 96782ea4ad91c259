# frozen_string_literal: true

# The claim: on a kept connection the HTTP client takes no more CPU time than Net::HTTP.
#
#   ruby -Ilib benchmark/http_client.rb [REQUESTS [ROUNDS]]
#
# The server is a process of its own. The contenders alternate in this process; every body is checked. Times are this
# process's CPU time. Ratios are of medians, to Net::HTTP.

require "net/http"
require "pelton/http"
require_relative "support/measuring"

REQUESTS = Integer(ARGV[0] || 2_000)
ROUNDS = Integer(ARGV[1] || 7)
FIBERS = 8

reader, writer = IO.pipe
server = fork do
  Pelton.run do
    listener = Pelton::HTTP::Server.new(->(_) { [200, {"content-type" => "text/plain"}, ["hello"]] }).listen("tcp://127.0.0.1:0")
    writer.puts(listener.port)
    writer.close
  end
end
at_exit { Process.kill(:KILL, server) }
PORT = Integer(reader.gets)

def check(body) = body == "hello" || raise("#{body.inspect} came back")

client = Pelton::HTTP::Client.new("http://127.0.0.1:#{PORT}")
CONTENDERS = {
  "Net::HTTP" => -> { Net::HTTP.start("127.0.0.1", PORT) { |http| REQUESTS.times { check(http.get("/").body) } } },
  "Pelton, where no reactor runs" => -> { REQUESTS.times { check(client.get("/").body) } },
  "Pelton, direct" => -> { Pelton.run { REQUESTS.times { check(client.get("/").body) } } },
  "Pelton, #{FIBERS} fibers" => lambda do
    Pelton.run { Array.new(FIBERS) { Pelton.spawn { (REQUESTS / FIBERS).times { check(client.get("/").body) } } }.each(&:await) }
  end
}.freeze

times = Hash.new { |all, name| all[name] = [] }
CONTENDERS.each_value(&:call) # warms up
ROUNDS.times { CONTENDERS.each { |name, contender| times[name] << processor_time(&contender) } }
medians = times.transform_values { |all| median(all) }
medians.each { |name, median| puts format("%-30s %5.2f x Net::HTTP   (%.0f us)", name, median / medians["Net::HTTP"], median / REQUESTS * 1e6) }
