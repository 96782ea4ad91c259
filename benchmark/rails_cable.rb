# frozen_string_literal: true

# The claim: Action Cable as it is delivers as many messages a second to 1,000 sockets on Pelton as on Puma.
#
#     export BUNDLE_GEMFILE=gemfiles/rails_cable.rb
#     bundle install && bundle exec ruby -Ilib benchmark/rails_cable.rb [SOCKETS [ROUNDS [MESSAGES]]]
#
# Each server has a process on one core, with all sockets connected to it; the sockets' other ends are in this process, on the other core. A round is
# one request that broadcasts so many messages, and ends when each socket has all of them: which ones is checked. Rounds are interleaved.

require "etc"
require "json"
require "set"
require "socket"
require "pelton/http"
require_relative "support/measuring"

SOCKETS, ROUNDS, MESSAGES = Integer(ARGV[0] || 1000), Integer(ARGV[1] || 7), Integer(ARGV[2] || 20)
SIZE = 100 # bytes of a message's text
APP = File.expand_path("rails_cable.ru", __dir__)
PIN = (Etc.nprocessors > 1) ? %w[taskset -c 0] : []
COMMANDS = {
  "Pelton" => ->(port) { [RbConfig.ruby, "-Ilib", "exe/pelton", "serve", APP, "-q", "-b", "tcp://127.0.0.1:#{port}"] },
  "Puma, 5 threads" => ->(port) { ["puma", "-q", "-t", "5:5", "-b", "tcp://127.0.0.1:#{port}", APP] }
}.freeze
IDENTIFIER = JSON.generate(channel: "RoomChannel")
Process.setrlimit(:NOFILE, 3 * SOCKETS + 500, Process.getrlimit(:NOFILE).last)
Pelton.watchdog = nil

# A server with its sockets.
class Cable
  attr_reader :name, :rates, :costs

  def initialize(name, command)
    @name, @rates, @costs, @first = name, [], [], 0
    @port = TCPServer.open("127.0.0.1", 0) { |server| server.local_address.ip_port }
    @pid = Process.spawn({"RACK_ENV" => "production"}, *PIN, *command.call(@port), %i[out err] => File::NULL)
    at_exit { Process.kill(:KILL, @pid) && Process.wait(@pid) }
  end

  def connect
    wait
    @sockets = Pelton.map(1..SOCKETS, limit: 20) do
      Pelton::HTTP::WebSocket.connect("ws://127.0.0.1:#{@port}/cable", protocols: ["actioncable-v1-json"]).tap do |socket|
        socket.write(JSON.generate(command: "subscribe", identifier: IDENTIFIER))
        nil until JSON.parse(socket.receive(timeout: 60))["type"] == "confirm_subscription"
      end
    end
  end

  # One round. Seconds by the clock, until all sockets have everything, and CPU seconds of the server.
  def measure
    cpu = spent
    numbers = Set.new(@first...(@first += MESSAGES))
    began = Pelton::Clock.now
    Pelton.group(timeout: 120) do |group|
      @sockets.each { |socket| group.spawn { receive(socket, numbers.dup) } }
      group.spawn { get("broadcast?first=#{numbers.first}&count=#{MESSAGES}&size=#{SIZE}") }
    end
    @rates << SOCKETS * MESSAGES / (Pelton::Clock.now - began)
    @costs << (spent - cpu) / (SOCKETS * MESSAGES)
  end

  private

  def receive(socket, numbers)
    until numbers.empty?
      content = JSON.parse(socket.receive)["message"]
      next unless content.is_a?(Hash) # a ping
      numbers.delete?(content["number"]) && content["text"].bytesize == SIZE || abort("#{name}: a wrong message: #{content}")
    end
  end

  def get(path) = Pelton::HTTP.get("http://127.0.0.1:#{@port}/#{path}", timeout: 120).body

  def spent = Float(get("spent"))

  def wait
    spent
  rescue Pelton::ConnectionError
    sleep 0.2
    retry
  end
end

Pelton.run do
  system("taskset", "-cp", "1", Process.pid.to_s, out: File::NULL) if PIN.any?
  cables = COMMANDS.map { |name, command| Cable.new(name, command) }
  cables.each(&:connect)
  (ROUNDS + 1).times do |round|
    cables.shuffle.each(&:measure)
    cables.each { |cable| [cable.rates, cable.costs].each(&:clear) } if round.zero?
  end
  puts RUBY_DESCRIPTION, "medians of #{ROUNDS} rounds, #{MESSAGES} messages to #{SOCKETS} sockets"
  pelton, puma = cables
  cables.each { |cable| puts format("%-20s %8d deliveries/s, %6.1f us of CPU each", cable.name, median(cable.rates), median(cable.costs) * 1e6) }
  puts format("Pelton/Puma          %8.2f               %6.2f", *%i[rates costs].map { |figures| median(pelton.public_send(figures).zip(puma.public_send(figures)).map { |a, b| a / b }) })
  Pelton.stop
end
