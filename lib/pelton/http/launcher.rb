# frozen_string_literal: true

require_relative "../http"
require_relative "../control"
require_relative "configuration"
require_relative "figures"
require_relative "isolation"

module Pelton
  module HTTP
    # A process that serves one application until it is told to stop.
    #
    # | signal | what happens |
    # |---|---|
    # | INT, TERM | accepts nothing more, and ends when the requests that are under way are done; the second one ends at once |
    # | HUP | opens the log again |
    # | USR1, USR2 | starts the program again with the same sockets, if they are its own; connections wait meanwhile |
    class Launcher
      # @return [Server, nil] once it serves
      attr_reader :server

      # @param configuration [Configuration]
      # @param app [#call, nil] instead of the configuration's rackup file
      def initialize(configuration, app: nil, out: $stdout)
        @configuration = configuration
        @app = app
        @out = out
      end

      # Looks for the rackup file, unless the application is there.
      #
      # @raise [Configuration::Invalid] there is none
      def check
        return if @app || File.file?(@configuration.rackup)
        raise Configuration::Invalid, "there is no #{@configuration.rackup}: name the rackup file, or write one"
      end

      # Loads the application, unless it is there.
      #
      # @raise [Configuration::Invalid] there is no rackup file, or no gem rack to read it
      def app
        @app ||= begin
          check
          require_builder
          parsed = Rack::Builder.parse_file(@configuration.rackup)
          parsed.is_a?(Array) ? parsed.first : parsed
        end
      end

      # Serves until a signal comes.
      #
      # @param sockets [Cluster::Sockets, nil] instead of opening the addresses
      # @return [Integer, nil] the exit status; nil: the program is to be started again with its sockets
      def run(sockets: nil)
        load = app # what is wrong with it shows before anything listens
        @sockets = sockets
        Pelton.run(grace: 1) do
          start(load, descriptors: sockets && @configuration.addresses.to_h { |address,| [address, sockets.descriptor(address)] }, shared: false)
          announce
          open_control
          yield self if block_given?
          obey
        end
        @again ? nil : 0
      ensure
        @control&.close
        restore_signals
      end

      # Makes the server and has it listen. Inside {Pelton.run}.
      #
      # @param descriptors [Hash{String => Integer}, nil] sockets of the addresses, instead of opening them
      # @param shared [Boolean] whether other processes accept from those, too
      # @return [Server]
      def start(application = app, descriptors: nil, shared: true)
        run_eventmachine
        Isolation.by_fiber
        @server = Server.new(application, log: access_log, **@configuration.server_options)
        @configuration.boot_hooks.each(&:call)
        @configuration.addresses.each do |address, tls|
          descriptors ? @server.listen_fd(descriptors.fetch(address), shared: shared, tls: tls) : @server.listen(address, tls: tls)
        end
        @server
      end

      # Finishes what is under way.
      #
      # @param backlog [Boolean] see {Server#stop}
      # @asynchronous
      def stop(backlog: false)
        @server.stop(timeout: @configuration.shutdown_timeout, backlog:)
      ensure
        @configuration.shutdown_hooks.each(&:call)
        ::EventMachine.stop if @eventmachine && ::EventMachine.reactor_running?
      end

      # Where requests are logged.
      def reopen_log
        return unless @log_file
        @log_file.reopen(@log_file.path, "a")
        @log_file.sync = true
      end

      private

      # It is needed here alone: so the gem does not depend on it.
      def require_builder
        require "rack/builder"
      rescue LoadError
        raise Configuration::Invalid, "a rackup file needs the gem rack: add it to your Gemfile, or gem install rack"
      end

      def open_control
        address = @configuration.control or return
        metrics = -> { Metrics.text(FIGURES, {{worker: 0} => @server.stats.transform_keys(&:to_s)}) }
        @control = Control.new(address, stats: -> { @server.stats }, metrics: metrics)
      end

      # Applications that were written for EventMachine find its loop running, as under Thin: it is this one. An error of a
      # callback of theirs is reported, and ends nothing.
      def run_eventmachine
        return unless defined?(::EventMachine) && ::EventMachine.respond_to?(:_failed) && !::EventMachine.reactor_running?
        @eventmachine = Pelton.spawn { ::EventMachine.run }
        ::EventMachine.error_handler { |error| Pelton.report_error(error) }
      end

      def access_log
        return if @configuration.quiet
        path = @configuration.log
        @log_file = File.open(path, "a").tap { |file| file.sync = true } if path
        CommonLog.new(@log_file || @out)
      end

      def announce
        return if @configuration.quiet
        @server.listeners.zip(@configuration.addresses.keys) do |listener, address|
          address = address.sub(/:0\z/) { ":#{listener.port}" }
          @out.puts("Pelton #{VERSION} listens on #{address} (pid #{Process.pid})")
        end
        @out.flush
      end

      # Until it is over.
      def obey
        signals = Thread::Queue.new
        names = @sockets ? %w[INT TERM HUP USR1 USR2] : %w[INT TERM HUP]
        @handlers = names.to_h { |name| [name, Signal.trap(name) { signals << name }] }
        stopping = nil
        while (name = signals.pop)
          if name == "HUP"
            reopen_log
          elsif !stopping
            stopping = name
            @again = name.start_with?("USR")
            @sockets&.close unless @again # whoever connects now is refused, and not left behind
            Pelton.spawn do
              stop
            ensure
              signals << nil
            end
          elsif !name.start_with?("USR")
            break @again = false
          end
        end
        Pelton.stop
      end

      def restore_signals
        @handlers&.each { |name, handler| Signal.trap(name, handler || "DEFAULT") }
      end
    end
  end
end
