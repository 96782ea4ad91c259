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
    # | HUP | opens the log and reads the certificates again; as INT where there is neither |
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

      # Looks for the rackup file, unless the application is there, for the certificates and the log.
      #
      # @raise [Configuration::Invalid] there is no rackup file, or no such certificate
      # @raise [SystemCallError] the log cannot be written
      def check
        contexts
        log_file
        return if @app || File.file?(@configuration.rackup)
        raise Configuration::Invalid, "there is no #{@configuration.rackup}: name the rackup file, or write one"
      end

      # Loads the application, unless it is there.
      #
      # @raise [Configuration::Invalid] as {check}; or there is no gem rack to read the file
      def app
        check
        @app ||= begin
          require_builder
          parsed = Rack::Builder.parse_file(@configuration.rackup)
          parsed.is_a?(Array) ? parsed.first : parsed
        end
      end

      # Sets what is called when it begins to stop.
      #
      # @yieldparam again [Boolean] whether the program is to be started again
      def on_stop(&block) = @on_stop = block

      # Serves until a signal comes.
      #
      # @param sockets [Cluster::Sockets, nil] instead of opening the addresses
      # @return [Integer, nil] the exit status; nil: the program is to be started again with its sockets
      def run(sockets: nil)
        load = app # what is wrong with it shows before anything listens
        @sockets = sockets
        Pelton.run(grace: 1) do
          start(load, descriptors: sockets && @configuration.addresses.to_h { |address,| [address, sockets.descriptor(address)] }, shared: false)
          open_control
          announce
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
        contexts.each do |address, tls|
          descriptors ? @server.listen_fd(descriptors.fetch(address), shared: shared, tls: tls) : @server.listen(address, tls: tls)
        end
        @configuration.modes.each { |path, mode| File.chmod(mode, path) }
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

      # Whether there is something to {reload}.
      def reloads? = !!(log_file || contexts.values.any?)

      # Opens the log and reads the certificates again. What cannot be read stays what it was, and is reported.
      def reload
        log_file&.reopen(log_file.path, "a")&.sync = true
        contexts.each_value { |context| context&.reload }
      rescue SystemCallError, TLSError => error
        Pelton.logger.error("cannot reload: #{error.message}")
      end

      private

      # It is needed here alone: so the gem does not depend on it.
      def require_builder
        require "rack" # whose middleware rackup files name without requiring it
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

      # Read before workers are forked, so that each of them resumes the sessions of all.
      def contexts
        @contexts ||= @configuration.addresses.to_h do |address, tls|
          [address, HTTP._tls(tls)]
        rescue TLSError, ArgumentError => error
          raise Configuration::Invalid, "#{address}: #{error.message}"
        end
      end

      def access_log
        CommonLog.new(log_file || @out) unless @configuration.quiet || @configuration.log == File::NULL
      end

      def log_file
        return if @configuration.quiet || [nil, File::NULL].include?(@configuration.log)
        @log_file ||= File.open(@configuration.log, "a").tap { |file| file.sync = true }
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
          if name == "HUP" && reloads?
            reload
          elsif !stopping
            stopping = name
            @again = name.start_with?("USR")
            @on_stop&.call(@again)
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
