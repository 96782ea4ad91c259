# frozen_string_literal: true

# A Rails application whose pages have a hundred compressed fragments (rails_fragments.ru), by what becomes of Ruby 3.4's hook
# blocking_operation_wait, by `limit:`, and under Puma: requests/s, the 99th percentile, CPU and the collector's time a request.
# Each way has a process; rounds are interleaved. Needs Ruby 3.4, wrk and memcached. Docs: adr/018.
#
#     export BUNDLE_GEMFILE=gemfiles/rails_fragments.rb
#     bundle install && bundle exec ruby -Ilib benchmark/rails_fragments.rb [ROUNDS [CLIENTS]]

require "open3"
require "pelton/http"
require "tmpdir"
require_relative "support/measuring"

ROUNDS, CLIENTS = Integer(ARGV[0] || 7), Integer(ARGV[1] || 16)
APP = File.expand_path("rails_fragments.ru", __dir__)
PAGES = %w[each together].freeze
WAYS = {
  "in place, no limit" => {}, "in threads" => {"HOOK" => "threads"}, "no hook" => {"HOOK" => "none"},
  "limit 16" => {"LIMIT" => "16"}, "limit 5" => {"LIMIT" => "5"}, "limit 1" => {"LIMIT" => "1"}, "Puma, 5 threads" => nil
}.freeze

def free_port = TCPServer.open("127.0.0.1", 0) { |server| server.local_address.ip_port }

def start(folder, environment, port)
  return spawn("puma", "-q", "-t", "5:5", "-b", "tcp://127.0.0.1:#{port}", APP, %i[out err] => "#{folder}/log") unless environment
  settings = "#{folder}/#{port}.rb"
  File.write(settings, environment["LIMIT"] ? "limit #{environment["LIMIT"]}" : "")
  spawn(environment, RbConfig.ruby, "-Ilib", "exe/pelton", "serve", APP, "-q", "-p", port.to_s, "-C", settings, %i[out err] => "#{folder}/log")
end

def get(port, path) = Pelton::HTTP.get("http://127.0.0.1:#{port}/#{path}", timeout: 30).body

def wait_for(port)
  page = get(port, "each")
  abort "a wrong page: #{page[0, 1000]}" unless page.scan("<li>").size == 100
rescue Pelton::ConnectionError
  sleep 0.2
  retry
end

# Milliseconds of the collector, and of the server's CPU.
def spent(port) = get(port, "spent").split.map(&:to_f)

def measure(port, page)
  before = spent(port)
  output, = Open3.capture2("wrk", "-t1", "-c#{CLIENTS}", "-d2", "--latency", "http://127.0.0.1:#{port}/#{page}")
  abort output if output.include?("Non-2xx")
  requests = Integer(output[/(\d+) requests in/, 1])
  tail = output[/99%\s+([\d.]+)ms/, 1]&.to_f || output[/99%\s+([\d.]+)s/, 1].to_f * 1000
  [Float(output[%r{Requests/sec:\s+([\d.]+)}, 1]), tail, *spent(port).zip(before).map { |now, then_| (now - then_) / requests }.reverse]
end

results = Hash.new { |all, key| all[key] = [] }
pids = []
Dir.mktmpdir do |folder|
  port = free_port
  pids << spawn("memcached", "-u", "nobody", "-l", "127.0.0.1", "-p", port.to_s, "-m", "256")
  ENV.update("MEMCACHED" => "127.0.0.1:#{port}", "DATABASE" => "#{folder}/messages.sqlite3", "RACK_ENV" => "production")
  ports = WAYS.transform_values do |environment|
    free_port.tap do |one|
      pids << start(folder, environment, one)
      wait_for(one)
    end
  end
  abort "other pages" unless PAGES.all? { |page| ports.values.map { |one| get(one, page) }.uniq.one? }
  warn "a page has #{get(ports.values.first, "each").bytesize} bytes"
  (ROUNDS + 1).times do |round|
    WAYS.keys.product(PAGES).shuffle.each do |way, page|
      figures = measure(ports[way], page)
      results[[way, page]] << figures if round > 0
    end
  end
ensure
  pids.each { |pid| Process.kill(:KILL, pid) && Process.wait(pid) }
end

puts RUBY_DESCRIPTION, "medians of #{ROUNDS} rounds, #{CLIENTS} clients: requests/s, ms of the 99th percentile, ms of CPU and of the collector a request"
WAYS.each_key do |way|
  cells = PAGES.map { |page| format("%10s %7.1f/s %6.0f %6.2f %5.2f", page, *results[[way, page]].transpose.map { |figures| median(figures) }) }
  puts format("%-20s%s", way, cells.join)
end
