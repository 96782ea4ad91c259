# frozen_string_literal: true

require_relative "version"

module Pelton
  # The command line, `pelton COMMAND`. Each command loads its own room only.
  module Command
    USAGE = <<~TEXT
      usage: pelton COMMAND [options]

        serve      serve a Rack application (pelton serve --help)
        run        run a Ruby program whose callbacks may call as deeply as it may (pelton run FILE [ARGUMENTS])
        memcached  run a memcached that needs no installation (pelton memcached --help)
        lab        rerun the experiments (pelton lab --help)
        version    print the version
    TEXT

    STOP_GRACE = 5 # seconds that a worker has beyond its shutdown_timeout, to cancel what is left

    # Runs a command line and returns the exit status.
    def self.run(arguments)
      command, *rest = arguments
      case command
      when "version", "--version", "-v"
        puts "pelton #{VERSION}"
        0
      when "run"
        run_program(arguments, *rest)
      when "serve"
        require_relative "http/command"
        HTTP::Command.run(rest) { |launcher, configuration| serve(launcher, configuration) }
      when "lab"
        require_relative "lab/command"
        Lab::Command.run(rest)
      when "memcached"
        require_relative "memcached/command"
        Memcached::Command.run(rest)
      when nil, "help", "--help", "-h"
        puts USAGE
        0
      else
        warn "pelton: no command #{command.inspect}\n\n#{USAGE}"
        2
      end
    end

    # The program's code runs in fibers, so they get stacks as deep as the main program's.
    def self.run_program(arguments, file = nil, *rest)
      unless file && File.file?(file)
        warn file ? "pelton: no file #{file}" : "usage: pelton run FILE [ARGUMENTS]"
        return 2
      end
      require_relative "stacks"
      Stacks.deepen(arguments)
      ARGV.replace(rest)
      load($PROGRAM_NAME = File.expand_path(file))
      0
    end
    private_class_method :run_program

    # @param launcher [HTTP::Launcher]
    # @param configuration [HTTP::Configuration]
    def self.serve(launcher, configuration)
      require_relative "cluster"
      return serve_by_workers(launcher, configuration) if configuration.workers.positive?
      launcher.app # what is wrong with it shows before anything listens
      sockets = Cluster::Sockets.open(configuration.addresses.keys)
      notifier = Cluster::Notifier.new
      launcher.on_stop { |again| again ? notifier.reloading : notifier.stopping }
      status = launcher.run(sockets: sockets) do
        Pelton.add_periodic_timer(notifier.interval) { notifier.alive } if notifier.interval
        notifier.ready
      end
      status || sockets.exec
    ensure
      sockets&.close
    end
    private_class_method :serve

    def self.serve_by_workers(launcher, configuration)
      launcher.check
      sockets = Cluster::Sockets.open(configuration.addresses.keys)
      stop_timeout = (configuration.shutdown_timeout || Float::INFINITY) + STOP_GRACE
      Pelton.logger.level = :warn if configuration.quiet && Pelton.logger.respond_to?(:level=)
      master = Cluster::Master.new(sockets, workers: configuration.workers, stop_timeout: stop_timeout,
        preload: (-> { launcher.app } if configuration.preload), load: -> { launcher.app }, control: configuration.control, figures: HTTP::FIGURES, **configuration.cluster_options) do |worker|
        Process.setproctitle("pelton: worker #{worker.index} of #{Process.ppid}#{" [#{configuration.tag}]" if configuration.tag}")
        launcher.reload # what is there now; when the master started it may have been something else
        server = launcher.start(descriptors: configuration.addresses.keys.to_h { |address| [address, worker.socket(address)] })
        worker.on_stop { |final| launcher.stop(backlog: final) }
        worker.on_hangup { launcher.reload }
        worker.stats { server.stats }
      end
      master.on_hangup { launcher.reload } if launcher.reloads?
      master.run
    ensure
      sockets&.close
    end
    private_class_method :serve_by_workers
  end
end
