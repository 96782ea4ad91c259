# frozen_string_literal: true

# What YJIT changes: a hello world by `pelton serve`, the broker's value of 10 KB, and gets from memcached in one fiber, with and
# without YJIT, as ratios. Rounds are interleaved; each contender's process lives through all of them. Servers have one core,
# wrk and memcached have the other.
#
#     ruby -Ilib benchmark/yjit.rb [ROUNDS]     (needs a Ruby that was built with YJIT, the gem rack, wrk and memcached)

require "net/http"
require "pelton/memcached"
require "rbconfig"
require "socket"
require "tmpdir"
require_relative "support/measuring"

ROOT = File.expand_path("..", __dir__)
rounds = Integer(ARGV[0] || 7)
abort "#{RbConfig.ruby} was built without YJIT" unless system(RbConfig.ruby, "--yjit", "-e", "exit RubyVM::YJIT.enabled?", err: File::NULL)

VALUE = Random.new(1).bytes(10_000)
COUNT = 20_000
HELLO = <<~RUBY
  run ->(_) { [200, {"content-type" => "text/plain"}, ["hello \#{!!RubyVM::YJIT.enabled?}\\n"]] }
RUBY
GETS = <<~RUBY
  require "pelton/memcached"
  Pelton.run do
    cache = Pelton::Memcached::Client.new(ARGV[0])
    while $stdin.gets
      #{COUNT}.times { cache.get("small") == "value" or abort "a wrong answer" }
      $stdout.syswrite("done \#{!!RubyVM::YJIT.enabled?}\\n")
    end
  end
RUBY

# A process whose work is measured: operations a second, and its CPU seconds for each.
class Contender
  attr_reader :rates, :costs

  def initialize(yjit, *arguments, environment: {}, **options)
    @rates, @costs = [], []
    command = ["taskset", "-c", "0", RbConfig.ruby, *("--yjit" if yjit), "-I#{ROOT}/lib", *arguments]
    @pid = Process.spawn(environment, *command, **options)
    at_exit { Process.kill(:KILL, @pid) && Process.wait(@pid) }
  end

  def measure
    before, start = cpu, now
    count = work
    @costs << (cpu - before) / count
    @rates << count / (now - start)
  end

  private

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def cpu = Integer(File.read("/proc/#{@pid}/schedstat").split.first) / 1e9
end

class Served < Contender
  def initialize(yjit, path, expected, configuration, **options)
    port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    @url = "http://127.0.0.1:#{port}#{path}"
    super(yjit, "#{ROOT}/exe/pelton", "serve", "--quiet", "-b", "tcp://127.0.0.1:#{port}", configuration, **options)
    100.times { break if answer == expected || !sleep(0.1) }
    abort "#{@url} has a wrong answer" unless answer == expected
  end

  def work
    output = IO.popen(["taskset", "-c", "1", "wrk", "-t1", "-c64", "-d1s", @url], &:read)
    abort output if output.include?("Non-2xx")
    Integer(output[/(\d+) requests in/, 1])
  end

  private

  def answer
    Net::HTTP.get(URI(@url)).b
  rescue SystemCallError, EOFError
    nil
  end
end

class Getting < Contender
  def initialize(yjit, address)
    @expected = "done #{yjit}\n"
    input, @input = IO.pipe
    @output, output = IO.pipe
    super(yjit, "-e", GETS, address, in: input, out: output)
    [input, output].each(&:close)
  end

  def work
    @input.syswrite("go\n")
    @output.gets == @expected or abort "the gets ended"
    COUNT
  end
end

port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
memcached = Process.spawn("taskset", "-c", "1", "memcached", *(%w[-u root] if Process.uid.zero?), "-l", "127.0.0.1", "-p", port.to_s, "-U", "0", "-t", "1")
at_exit { Process.kill(:KILL, memcached) && Process.wait(memcached) }
address = "127.0.0.1:#{port}"
sleep 0.3
Pelton::Memcached::Client.new(address).tap { |cache| cache.set_multi({"small" => "value", "page" => VALUE}) }

Dir.mktmpdir do |dir|
  hello = File.join(dir, "hello.ru").tap { |file| File.write(file, HELLO) }
  broker = "#{ROOT}/pelton-lab/examples/broker/config.ru"
  pairs = {
    "hello" => ->(yjit) { Served.new(yjit, "/", "hello #{yjit}\n", hello) },
    "broker, 10 KB" => ->(yjit) { Served.new(yjit, "/page", VALUE, broker, environment: {"MEMCACHE_SERVERS" => address}) },
    "memcached get" => ->(yjit) { Getting.new(yjit, address) }
  }.transform_values { |make| [false, true].map(&make) }
  2.times { pairs.each_value { |pair| pair.each(&:measure) } } # they warm up, and YJIT compiles
  pairs.each_value { |pair| pair.each { |one| [one.rates, one.costs].each(&:clear) } }
  rounds.times { pairs.each_value { |pair| pair.each(&:measure) } }

  puts RUBY_DESCRIPTION, "with YJIT / without, medians of #{rounds} rounds:", "                 per second      CPU"
  pairs.each do |name, (plain, yjit)|
    puts format("%-16s %10.2f %10.2f", name, *%i[rates costs].map { |kind| median(yjit.send(kind)) / median(plain.send(kind)) })
  end
end
