# frozen_string_literal: true

# The embedded memcached with too little memory, beside memcached with one thread: the share of reads that still hit when a few
# keys are read often (a Zipf distribution), with a scan of many keys in between; and the memory that each takes when the
# sizes of values change all the time.
#
#   bundle exec ruby -Ilib benchmark/memcached_eviction.rb     (READS=200000)

require "etc"
require "rbconfig"
require "socket"

ROOT = File.expand_path("..", __dir__)
READS = Integer(ENV.fetch("READS", "200000"))
KEYS = 400_000
VALUE = "v" * 400
LIMIT = 64 # megabytes; some 140,000 items

class Subject
  def initialize(*command)
    @port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    @pid = Process.spawn(*command, "-l", "127.0.0.1", "-p", @port.to_s, "-U", "0", "-m", LIMIT.to_s, out: File::NULL)
    @socket = connect
    @before = resident
  end

  def connect
    tries ||= 0
    TCPSocket.new("127.0.0.1", @port)
  rescue Errno::ECONNREFUSED
    ((tries += 1) < 200) ? sleep(0.02) && retry : raise
  end

  def resident = File.read("/proc/#{@pid}/status")[/VmRSS:\s+(\d+)/, 1].to_i / 1024

  # The growth of memory since the start, in megabytes.
  def growth = resident - @before

  def set(pairs)
    @socket.write(pairs.map { |key, value| "set #{key} 0 0 #{value.bytesize} noreply\r\n#{value}\r\n" }.join, "mn\r\n")
    answer = @socket.gets
    raise "a set was answered by #{answer}" unless answer == "MN\r\n"
  end

  # Returns those of the keys that the server still has.
  def get(keys)
    @socket.write("get #{keys.join(" ")}\r\n")
    found = []
    until (line = @socket.gets) == "END\r\n"
      _, key, _, length = line.split
      raise "a value is wrong" unless @socket.read(length.to_i + 2) == "#{VALUE}\r\n"
      found << key
    end
    found
  end

  def stop
    @socket.close
    Process.kill("TERM", @pid)
    Process.wait(@pid)
  end
end

# The probability of a key is nearly proportional to one by its rank.
def zipf(random) = "k#{(KEYS**random.rand).to_i}"

def hits(subject)
  random = Random.new(1)
  hits = 0
  READS.times.each_slice(100).with_index do |slice, round|
    keys = slice.map { zipf(random) }.uniq
    found = subject.get(keys)
    hits += found.size
    subject.set((keys - found).to_h { |key| [key, VALUE] })
    subject.set(Array.new(100) { |number| ["scan#{round}-#{number}", VALUE] }) # written once, and never read
  end
  hits
end

def churn(subject)
  random = Random.new(2)
  [1..200, 1..2000, 5000..20_000, 1..100, 100..10_000].each do |lengths|
    count = [(LIMIT << 20) * 2 / ((lengths.first + lengths.last) / 2), 300_000].min
    count.times.each_slice(500) { |slice| subject.set(slice.to_h { ["k#{random.rand(10_000_000)}", "x" * random.rand(lengths)] }) }
  end
  subject.growth
end

user = Process.uid.zero? ? %w[-u nobody] : []
commands = {"memcached" => ["memcached", "-t", "1", *user], "pelton" => [RbConfig.ruby, "-I#{ROOT}/lib", "#{ROOT}/exe/pelton", "memcached"]}
results = commands.transform_values do |command|
  subject = Subject.new(*command)
  [hits(subject), churn(subject)]
ensure
  subject&.stop
end
puts RUBY_DESCRIPTION, `memcached -V`.chomp, "#{READS} reads, #{LIMIT} MB", ""
puts format("%-36s %10s %10s  ratio", "", *results.keys)
["hits", "MB resident after changing sizes"].each_with_index do |what, index|
  theirs, ours = results.values.map { |result| result[index] }
  puts format("%-36s %10d %10d  %5.2f", what, theirs, ours, ours / theirs.to_f)
end
