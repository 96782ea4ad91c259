# frozen_string_literal: true

# A cluster in a process of its own: workers that answer each line with their process id and the line. A line "sleep"
# is answered after 0.2 seconds, "die" ends the worker, "grow" gives it 300 MB of memory, "count" is answered with the
# number of such lines that all workers have got. A worker that stops waits for the connections that are open.
#
# usage: ruby cluster_program.rb ADDRESS WORKERS CONTROL_PATH [OPTION...]: preload, broken, killed, slow_stop, hung

require "pelton/cluster"

address, workers, control, *options = ARGV
Pelton.logger = $stdout
$stdout.sync = true
if options.include?("broken_later") # the workers after the first ones cannot start
  marker = "#{control}.started"
  broken = -> { File.exist?(marker) }
end

if options.include?("killed") # the first worker dies, while the second one still starts
  killed = "#{control}.killed"
  boot = lambda do |index|
    File.write(killed, Process.pid) && Process.kill(:KILL, Process.pid) if index == 0 && !File.exist?(killed)
    sleep 0.01 until File.exist?(killed) && (pid = File.read(killed)) != "" && !File.exist?("/proc/#{pid}")
  end
end

preload = -> { Pelton.logger.info("preloads") } if options.include?("preload")
before_fork = -> { raise "no disk" if File.exist?("#{control}.full") }
sockets = Pelton::Cluster::Sockets.open([address])
master = Pelton::Cluster::Master.new(sockets, workers: Integer(workers), preload:, control:, before_fork:,
  stop_timeout: options.include?("slow_stop") ? 0.5 : 60, worker_timeout: options.include?("hung") ? 2 : 60,
  memory: (200 << 20 if options.include?("memory")), memory_after: 0.1,
  families: {"answered" => Pelton::Metrics::Family.new("counter", "answered_total", "Lines.")}) do |worker|
  boot&.call(worker.index)
  abort "cannot load" if options.include?("broken") || broken&.call
  open = answered = 0
  memory = nil
  answer = lambda do |stream|
    open += 1
    while (line = stream.gets)
      exit!(3) if line == "die\n"
      loop {} if line == "hang\n"
      memory = "x" * (300 << 20) if line == "grow\n"
      if line == "sleep\n"
        Pelton.logger.info("sleeps")
        sleep 0.2
      end
      line = "#{Pelton::SharedCounters.default.add("counted", ttl: 60)}\n" if line == "count\n"
      answered += 1
      stream.write("#{Process.pid} #{line}")
    end
  rescue Pelton::ConnectionError
    nil # the client has gone
  ensure
    open -= 1
    stream.close
  end
  listeners = worker.sockets.map { |fd| Pelton::Listener.for_fd(fd, shared: true, &answer) }
  worker.stats { {open:, answered:, memory: memory.to_s.size} }
  worker.readiness { "not ready" if File.exist?("#{control}.unready") }
  worker.on_stop do
    listeners.each(&:close)
    sleep 0.01 until listeners.sum(&:pending) == 0 && open == 0
    sleep if options.include?("slow_stop")
  end
end
master.on_hangup { Pelton.logger.info("hangs up") }
exit master.run
