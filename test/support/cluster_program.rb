# frozen_string_literal: true

# A cluster in a process of its own: workers that answer each line with their process id and the line. A line "sleep"
# is answered after 0.2 seconds, "die" ends the worker.
#
# usage: ruby cluster_program.rb ADDRESS WORKERS CONTROL_PATH [OPTION...]: preload, broken, slow_stop, hung

require "pelton/cluster"

address, workers, control, *options = ARGV
Pelton.logger = $stdout
$stdout.sync = true
if options.include?("broken_later") # the workers after the first ones cannot start
  marker = "#{control}.started"
  broken = -> { File.exist?(marker) }
end

preload = -> { Pelton.logger.info("preloads") } if options.include?("preload")
sockets = Pelton::Cluster::Sockets.open([address])
master = Pelton::Cluster::Master.new(sockets, workers: Integer(workers), preload:, control:, stop_timeout: 0.5,
  worker_timeout: options.include?("hung") ? 0.5 : 60) do |worker|
  abort "cannot load" if options.include?("broken") || broken&.call
  asleep = 0
  answer = lambda do |stream|
    while (line = stream.gets)
      exit!(3) if line == "die\n"
      asleep += 1
      loop {} if line == "hang\n"
      if line == "sleep\n"
        Pelton.logger.info("sleeps")
        sleep 0.2
      end
      asleep -= 1
      stream.write("#{Process.pid} #{line}")
    end
  end
  listeners = worker.sockets.map { |fd| Pelton::Listener.for_fd(fd, shared: true, &answer) }
  worker.stats { {asleep:} }
  worker.on_stop do
    listeners.each(&:close)
    sleep 0.01 until asleep == 0
    sleep if options.include?("slow_stop")
  end
end
master.on_hangup { Pelton.logger.info("hangs up") }
exit master.run
