# frozen_string_literal: true

# The embedded memcached beside memcached with one thread (-t 1 -R 1000): operations a second, the server's own CPU time for each of them,
# and the memory that an item of 100 bytes takes. The load comes from a C program on the other core.
#
#   bundle exec ruby -Ilib benchmark/memcached_server.rb [WORKLOAD ...]     (ROUNDS=7)

require "etc"
require "rbconfig"
require "socket"
require "tmpdir"
require_relative "support/measuring"

ROUNDS = Integer(ENV.fetch("ROUNDS", "7"))
ROOT = File.expand_path("..", __dir__)

# name => [workload of load.c, connections, operations at once, operations]
WORKLOADS = {
  "get, queued" => ["get", 8, 100, 200_000],
  "mg, queued" => ["mg", 8, 100, 200_000],
  "set, queued" => ["set", 8, 100, 200_000],
  "ms, queued" => ["ms", 8, 100, 200_000],
  "miss, queued" => ["miss", 8, 100, 200_000],
  "get of 100 keys" => ["multi", 8, 1, 200_000],
  "get, one at a time, 50 clients" => ["get", 50, 1, 50_000],
  "set, one at a time, 50 clients" => ["set", 50, 1, 50_000],
  "mg, one at a time, 50 clients" => ["mg", 50, 1, 50_000],
  "get, one at a time, 1 client" => ["get", 1, 1, 10_000],
  "get of 500 KB" => ["large", 4, 1, 1_000],
  "set of 500 KB" => ["large_set", 4, 1, 500]
}.freeze

# A server in a process of its own, bound to the first core.
class Subject
  attr_reader :name, :port

  def initialize(name, *command)
    @name = name
    5.times { return if start(command) }
    abort "#{name} does not start"
  end

  # Another process may take the port meanwhile, so the server that answers there is checked.
  def start(command)
    @port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    pin = (Etc.nprocessors > 1) ? %w[taskset -c 0] : []
    @pid = Process.spawn(*pin, *command.map { |part| part.sub("PORT", port.to_s) }, out: File::NULL)
    200.times do
      return true if answering_pid == @pid
      sleep 0.02
    end
    stop
    false
  end

  def answering_pid
    TCPSocket.open("127.0.0.1", port) do |socket|
      socket.write("stats\r\n")
      socket.gets.to_s[/\ASTAT pid (\d+)/, 1].to_i
    end
  rescue SystemCallError
    nil
  end

  # CPU seconds of all of the server's threads so far.
  def cpu = Dir["/proc/#{@pid}/task/*/schedstat"].sum { |file| File.read(file).to_i } / 1e9

  def resident = File.read("/proc/#{@pid}/status")[/VmRSS:\s+(\d+)/, 1].to_i * 1024

  def stop
    Process.kill("TERM", @pid)
    Process.wait(@pid)
  end
end

def with_subjects
  user = Process.uid.zero? ? %w[-u nobody] : []
  memcached = %w[-l 127.0.0.1 -p PORT -U 0 -m 512 -c 1024 -I 1m]
  # By default memcached turns to the next connection after 20 commands, which costs it a third of its speed where many commands are queued.
  subjects = [Subject.new("memcached", "memcached", "-t", "1", "-R", "1000", *memcached, *user),
    Subject.new("pelton", RbConfig.ruby, "-I#{ROOT}/lib", "#{ROOT}/exe/pelton", "memcached", *memcached)]
  yield subjects
ensure
  subjects&.each(&:stop)
end

def measure(subject, load, workload)
  before = subject.cpu
  pin = (Etc.nprocessors > 1) ? %w[taskset -c 1] : []
  output = IO.popen([*pin, load, subject.port.to_s, *workload.map(&:to_s)], &:read)
  raise "the load failed against #{subject.name}" unless $?.success?
  {rate: workload.last / (output.to_i / 1e9), cpu: (subject.cpu - before) / workload.last * 1e6}
end

def race(subjects, load, name, workload)
  rounds = Array.new(ROUNDS) { |round| subjects.rotate(round).to_h { |subject| [subject, measure(subject, load, workload)] } }
  rate, cpu = [:rate, :cpu].map { |measurement| subjects.map { |subject| median(rounds.map { |round| round[subject][measurement] }) } }
  puts format("%-32s %10d %10d  %5.2f %9.2f %9.2f  %5.2f", name, *rate, rate[1] / rate[0], *cpu, cpu[1] / cpu[0])
end

# Bytes of resident memory for each of many items of 100 bytes.
def item_memory
  count = 1_000_000
  with_subjects do |subjects|
    costs = subjects.map do |subject|
      before = subject.resident
      TCPSocket.open("127.0.0.1", subject.port) do |socket|
        count.times.each_slice(1000) do |slice|
          socket.write(slice.map { |number| format("set benchmark:%06d 0 0 100 noreply\r\n%s\r\n", number, "v" * 100) }.join)
        end
        socket.write("get benchmark:%06d\r\nmn\r\n" % (count - 1))
        raise "the last item is not there" unless socket.gets == "VALUE benchmark:%06d 0 100\r\n" % (count - 1)
        nil until socket.gets == "MN\r\n"
      end
      (subject.resident - before) / count.to_f
    end
    puts format("%-32s %10.0f %10.0f  %5.2f", "bytes of memory an item", *costs, costs[1] / costs[0])
  end
end

Dir.mktmpdir do |folder|
  load = File.join(folder, "load")
  system("cc", "-O2", "-Wall", File.join(__dir__, "memcached_server/load.c"), "-o", load) or abort "load.c does not compile"
  puts RUBY_DESCRIPTION, "#{Etc.uname[:sysname]} #{Etc.uname[:release]}, #{Etc.nprocessors} cores, #{ROUNDS} rounds, #{`memcached -V`.chomp}", ""
  puts "operations a second; CPU in us    memcached     pelton  ratio memcached    pelton  ratio"
  chosen = ARGV.any? ? WORKLOADS.select { |name, _| ARGV.any? { |word| name.include?(word) } } : WORKLOADS
  with_subjects { |subjects| chosen.each { |name, workload| race(subjects, load, name, workload) } }
  item_memory if ARGV.empty? || ARGV.include?("memory")
end
