# frozen_string_literal: true

require_relative "version"

module Pelton
  # The command line, `pelton COMMAND`. Each command loads only the code that it needs.
  module Command
    USAGE = <<~TEXT
      usage: pelton COMMAND [options]

        serve        serve a Rack application (pelton serve --help)
        run          run a Ruby program whose callbacks may call as deeply as it may (pelton run FILE [ARGUMENTS])
        status       show the counters and tasks of a server (pelton status ADDRESS)
        purge        remove responses from a server's cache (pelton purge ADDRESS PATH)
        certificate  say how to trust the certificate of pelton serve --tls (pelton certificate trust)
        memcached    run a memcached that needs no installation (pelton memcached --help)
        db           create, migrate and inspect a database (pelton db --help); it is in the gem pelton-sequel
        new          write a web application (pelton new --help); it is in the gem pelton-web
        generate     write a controller, a model, a migration or a sign-in into it (pelton generate --help); it is in the gem pelton-web
        web          list the routes of an application, start its console (pelton web --help); it is in the gem pelton-web
        lab          rerun the experiments (pelton lab --help); it is in the gem pelton-lab
        version      print the version
    TEXT

    RUN_USAGE = <<~TEXT
      usage: pelton run FILE [ARGUMENTS]

      Runs a Ruby program as `ruby FILE` does, but its tasks and callbacks get stacks as deep as the main program's.
    TEXT

    # Commands of other gems: the gem, its feature, and the constant of {Pelton} that runs the command.
    GEMS = {
      "db" => ["pelton-sequel", "pelton/sequel/command", "Sequel::Command"],
      "new" => ["pelton-web", "pelton/web/generators/application", "Web::Generators::Application"],
      "generate" => ["pelton-web", "pelton/web/generators", "Web::Generators"],
      "web" => ["pelton-web", "pelton/web/command", "Web::Command"],
      "lab" => ["pelton-lab", "pelton/lab/command", "Lab::Command"]
    }.freeze
    COMMANDS = (%w[serve run status certificate memcached version] + GEMS.keys).freeze
    # Seconds for a process beyond its shutdown_timeout, to cancel the remaining requests and to end; then it is killed
    STOP_GRACE = 5
    END_GRACE = 2 # seconds for a master to end without its workers

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
        HTTP::Command.run(rest, check: method(:check)) { |launcher, configuration| serve(launcher, configuration) }
      when "status"
        require_relative "command/status"
        Status.run(rest)
      when "certificate"
        require_relative "command/certificate"
        Certificate.run(rest)
      when "purge"
        require_relative "command/purge"
        Purge.run(rest)
      when *GEMS.keys, "g"
        run_from_gem((command == "g") ? "generate" : command, rest)
      when "memcached"
        require_relative "memcached/command"
        Memcached::Command.run(rest)
      when nil, "help", "--help", "-h"
        help(rest.first)
      else
        refuse(unknown(command))
      end
    end

    def self.help(command)
      return puts(USAGE) || 0 if [nil, "help", "--help", "-h"].include?(command)
      return refuse(unknown(command)) unless COMMANDS.include?(command)
      run([command, "--help"])
    end
    private_class_method :help

    def self.unknown(command) = "pelton: no command #{command.inspect}\n\n#{USAGE}"
    private_class_method :unknown

    # Kernel#warn would say nothing under `ruby -W0`.
    def self.refuse(message)
      $stderr.write(message.chomp, "\n")
      2
    end
    private_class_method :refuse

    # Loads the command's gem. It may be missing, and it may be unable to load something itself.
    def self.run_from_gem(command, arguments)
      gem, feature, constant = GEMS.fetch(command)
      require feature
      Pelton.const_get(constant).run(arguments)
    rescue LoadError => error
      raise error unless error.path == feature
      refuse("pelton #{command}: this command is in a gem of its own: gem install #{gem}, or add gem #{gem.inspect} " \
        "to the Gemfile")
    end
    private_class_method :run_from_gem

    # The program's code runs in fibers, so they get stacks as deep as the main program's.
    def self.run_program(arguments, file = nil, *rest)
      return puts(RUN_USAGE) || 0 if %w[-h --help].include?(file)
      return refuse(file ? "pelton run: there is no file #{file}" : RUN_USAGE) unless file && File.file?(file)
      require_relative "program/stacks"
      Stacks.deepen(arguments)
      require_relative "tasks/list"
      TaskList.log_at("TTIN")
      ARGV.replace(rest)
      load($PROGRAM_NAME = File.expand_path(file))
      0
    end
    private_class_method :run_program

    # @param command [HTTP::Command]
    def self.check(command)
      require_relative "command/check"
      Check.new(command).run
    end
    private_class_method :check

    # @param launcher [HTTP::Launcher]
    # @param configuration [HTTP::Configuration]
    def self.serve(launcher, configuration)
      require_relative "cluster"
      return serve_by_workers(launcher, configuration) if configuration.workers.positive?
      launcher.app # its errors must show before anything listens
      sockets = Cluster::Sockets.open(configuration.addresses.keys)
      notifier = Cluster::Notifier.new
      launcher.on_stop { |again| again ? notifier.reloading : notifier.stopping }
      status = launcher.run(sockets: sockets, stop_limit: configuration.shutdown_timeout&.+(STOP_GRACE)) do
        Pelton.add_periodic_timer(notifier.interval) { notifier.alive } if notifier.interval
        notifier.ready
      end
      status || sockets.exec
    ensure
      sockets&.close
    end
    private_class_method :serve

    def self.serve_by_workers(launcher, configuration)
      require_relative "pubsub/hub"
      launcher.check
      sockets = Cluster::Sockets.open(configuration.addresses.keys)
      hub = PubSub::Hub.open unless configuration.pubsub
      stop_timeout = (configuration.shutdown_timeout || Float::INFINITY) + STOP_GRACE
      Pelton.logger.level = :warn if configuration.quiet && Pelton.logger.respond_to?(:level=)
      master = Cluster::Master.new(sockets, workers: configuration.workers, stop_timeout: stop_timeout,
        preload: (-> { launcher.app } if configuration.preload), load: -> { launcher.app },
        control: configuration.control, families: HTTP::STATS, name: HTTP::Configuration.method(:url),
            **configuration.cluster_options) do |worker|
        Process.setproctitle(
          "pelton: worker #{worker.index} of #{Process.ppid}#{" [#{configuration.tag}]" if configuration.tag}"
        )
        hub&.forget
        launcher.reload # the log and the certificates may have changed since the master started
        server =
          launcher.start(descriptors: configuration.addresses.keys.to_h { |address| [address, worker.socket(address)] },
            pubsub: configuration.pubsub || hub.path)
        worker.on_stop do |final|
          launcher.stop(backlog: final)
        ensure
          hub&.remove if worker.orphaned?
        end
        worker.on_hangup { launcher.reload }
        worker.stats { server.stats }
        worker.purge { |path| server.purge(path) }
        worker.readiness { launcher.obstacle }
        worker.tasks { |reactor| launcher.tasks(reactor) }
      end
      master.on_hangup { launcher.reload } if launcher.reloads?
      companions = HTTP::Companions.new(configuration, hub)
      companions.start
      master.on_stop { companions.stop }
      master.on_restart do
        companions.wait
        hub&.hand_over
      end
      status = master.run
      companions.wait
      StopLimit.from_now(END_GRACE) # what was preloaded may have an at_exit that hangs
      companions.failed? ? 1 : status
    ensure
      companions&.stop
      hub&.close
      sockets&.close
    end
    private_class_method :serve_by_workers
  end
end
