# frozen_string_literal: true

require "json"
require "socket"
require "tmpdir"
require_relative "../certificates"
require_relative "../running_program"
require_relative "../sockets"
require_relative "load"

# Runs `pelton serve` in processes of its own, on a TCP, a UNIX and a TLS socket, under load.
module HttpServing
  include RunningPrograms
  include Sockets

  MORE = 50

  private

  # @yieldparam load [HttpLoad] that has begun
  def serving_under_load(workers:, setting: "")
    Dir.mktmpdir do |folder|
      @folder = folder
      addresses = ["tcp://127.0.0.1:#{free_port}", "unix://#{folder}/socket", "ssl://127.0.0.1:#{free_port}"]
      configure(addresses, workers, setting)
      start
      load = HttpLoad.new(addresses).start
      go_on(load)
      yield load
    ensure
      load&.stop
      kill if @master
    end
  end

  def configure(addresses, workers, setting)
    settings = <<~RUBY
      bind #{addresses[0].dump}
      bind #{addresses[1].dump}
      bind #{addresses[2].dump}, certificate: File.read("cert.pem"), key: File.read("key.pem")
      workers #{workers}
      control "control"
      quiet true
      shutdown_timeout 100
      #{setting}
    RUBY
    {"config.ru" => HttpLoad::APPLICATION, "cert.pem" => Certificates.server.certificate,
     "key.pem" => Certificates.server.key,
     "pelton.rb" => settings}.each { |name, text| File.write("#{@folder}/#{name}", text) }
  end

  def start
    command = [RbConfig.ruby, File.join(PeltonTest::ROOT, "exe/pelton"), "serve"]
    env = {"RUBYLIB" => Children::LIB, "HTTP_LOAD_LOG" => "#{@folder}/requests"}
    @master = start_program(*command, folder: @folder, env: env).pid
    in_time { !serving.empty? }
  end

  # Waits until each process that serves now has answered many more requests.
  def go_on(load)
    before = in_time { serving.to_h { |pid| [pid, load[pid]] } }
    in_time { before.all? { |pid, count| load[pid] > count + MORE } }
  end

  # A slow machine gets more time, and the clients need the processor more than this loop does.
  def in_time
    eventually("the condition in line #{caller_locations(1, 1)[0].lineno}", timeout: 60) do
      yield || (sleep(0.05) && nil)
    end
  rescue Minitest::Assertion => failure
    raise failure, "#{failure.message}\n#{log}"
  end

  def log = File.exist?("#{@folder}/log") ? File.read("#{@folder}/log") : ""

  # {the number of a request that was begun => the id of the process that began it}
  def begun = File.foreach("#{@folder}/requests").to_h { |line| line.split.map(&:to_i) }

  # ---- processes -----------------------------------------------------------------------------------------------------

  def server_stats
    JSON.parse(answer_from("#{@folder}/control", "GET /stats HTTP/1.1\r\n\r\n").split("\r\n\r\n").fetch(1))
  rescue SystemCallError, IndexError, JSON::ParserError
    nil # the server is starting, or is being restarted
  end

  # The process ids of all workers, also of those that are about to end.
  def processes = server_stats&.fetch("workers", nil)&.map { |worker| worker["pid"] } || []

  # The process ids of the processes that serve: ready workers, or the only process.
  def serving
    known = server_stats or return []
    return [@master] unless known["workers"]
    ready = known["workers"].select { |worker| worker["ready"] }.map { |worker| worker["pid"] }
    (ready.size == known["wanted"]) ? ready : []
  end

  def wait_for_the_end
    Process.wait(@master)
    @master = nil
    $?
  end

  def kill
    Process.kill("KILL", @master)
    wait_for_the_end
  end
end
