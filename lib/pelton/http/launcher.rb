# frozen_string_literal: true

require_relative "../http"
require_relative "../control"
require_relative "../program/huge_pages"
require_relative "../pubsub"
require_relative "../pubsub/hub"
require_relative "../tasks/list"
require_relative "companions"
require_relative "configuration"
require_relative "health"
require_relative "stats"

module Pelton
  module HTTP
    # Serves one application in this process until a signal comes.
    #
    # | signal | effect |
    # |---|---|
    # | INT, TERM | accepts no more connections, and ends when the requests in progress are done; the second signal ends at once |
    # | HUP | opens the log and reads the certificates again; as INT where there is neither |
    # | TTIN | writes the tasks to Pelton.logger |
    # | USR1, USR2 | starts the program again with the same sockets, if this process owns them; connections wait meanwhile |
    class Launcher
      SECOND_LIMIT = 5 # seconds from the second INT or TERM to the end of the process, where it has a limit
      # Where an exception comes from that would end the run of any other program.
      OUTLIVED = "outside of all requests, which go on (by a callback, a task, or Thread#raise: " \
        "to limit the time of a request, use request_timeout)"
      private_constant :SECOND_LIMIT, :OUTLIVED

      # @return [Server, nil] nil before {#start}
      attr_reader :server

      # @param configuration [Configuration]
      # @param app [#call, nil] the application; nil: the configuration's rackup file
      def initialize(configuration, app: nil, out: $stdout)
        @configuration = configuration
        @app = app
        @out = out
        check, timeout = configuration.readiness
        @health =
          Health.new(live_path: configuration.live_path, ready_path: configuration.ready_path,
            check: check, timeout: timeout)
      end

      # Checks the certificates, the log, and, without an application, that the rackup file exists.
      #
      # @raise [Configuration::Invalid] the rackup file is missing, or a certificate is missing or invalid
      # @raise [SystemCallError] the log cannot be opened
      def check
        contexts
        log_file
        find_rackup
      end

      # Loads the application, unless it was given.
      #
      # @return [#call]
      # @raise [Configuration::Invalid] as {#check}, or the gem rack is missing
      def app
        check
        load_app
      end

      # Loads the application, unless it was given, and checks nothing else.
      #
      # @return [#call]
      # @raise [Configuration::Invalid] the rackup file or the gem rack is missing
      # @raise what the rackup file raises; its backtrace ends there
      def load_app
        @app ||= begin
          HTTP.configuration = @configuration
          find_rackup
          require_builder
          parsed = Rack::Builder.parse_file(@configuration.rackup)
          parsed.is_a?(Array) ? parsed.first : parsed
        rescue ScriptError, StandardError => error
          error.set_backtrace(error.backtrace&.take_while { |line| !line.include?("/rack/builder.rb:") })
          raise
        end
      end

      # Calls the block when the launcher begins to stop.
      #
      # @yieldparam again [Boolean] whether the program starts again
      def on_stop(&block) = @on_stop = block

      # Serves until a signal comes. Its companion programs start with it, and end with it.
      #
      # @param sockets [Cluster::Sockets, nil] the open sockets of the addresses; nil: open them
      # @param stop_limit [Numeric, nil] seconds from the first signal to the end of this process, whatever it does
      #   then: see {StopLimit}; nil: it may take any time
      # @return [Integer, nil] the exit status; nil: the caller must start the program again with its sockets
      # @raise as {#app} and {#start}
      def run(sockets: nil, stop_limit: nil)
        application = app # its errors must show before anything listens
        @sockets = sockets
        @hub = PubSub::Hub.open if @configuration.companions.any? && !@configuration.pubsub
        @companions = Companions.new(@configuration, @hub)
        Pelton.run(grace: 1) do
          signals = nil
          Watchdog.quietly do # no request waits yet
            start(application, descriptors: sockets &&
              @configuration.addresses.to_h { |address,| [address, sockets.descriptor(address)] },
              shared: false, pubsub: @configuration.pubsub || @hub&.path)
            open_control
            signals = trap_signals(stop_limit)
            announce # after it, whoever reads the log may send a signal
            @companions.start
            yield self if block_given?
          end
          handle_signals(signals)
        end
        @companions.wait
        return 1 if @companions.failed?
        return 0 unless @again
        @hub&.hand_over
        nil
      ensure
        @companions&.stop
        @hub&.close
        @control&.close
        restore_signals
      end

      # Makes the server and listens. It is called inside {Pelton.run}.
      #
      # @param descriptors [Hash{String => Integer}, nil] the open sockets of the addresses; nil: open them
      # @param shared [Boolean] whether other processes accept from these sockets, too
      # @param pubsub [String, nil] where the topics of other processes are: see {PubSub#join}
      # @return [Server]
      # @raise [ConnectionError] an address is in use, or is not this machine's
      # @asynchronous
      def start(application = app, descriptors: nil, shared: true, pubsub: @configuration.pubsub)
        Reactor.current.on_fatal { |error| Pelton.report_error(error, OUTLIVED) }
        @integrations = Integrations.launch
        Integrations.load(:launcher)
        @pubsub = PubSub.default.join(pubsub) if pubsub
        @server = Server.new(@health.around(guarded(application)), log: @health.sparing(access_log),
          **@configuration.server_options)
        @server._urgent_paths = @health.paths
        @server._tls_only = @configuration.redirects?
        Background.reactor = Reactor.current
        @configuration.boot_hooks.each(&:call)
        contexts.each do |address, tls|
          if descriptors
            @server.listen_fd(descriptors.fetch(address), shared: shared, tls: tls)
          else
            @server.listen(address, tls: tls)
          end
        end
        @configuration.modes.each { |path, mode| File.chmod(mode, path) }
        keep_certificates
        join_memory
        @server
      end

      # Stops the server when the requests in progress are done, and what they have left to {Background}, or after
      # `shutdown_timeout`.
      #
      # @param backlog [Boolean] see {Server#stop}
      # @asynchronous
      def stop(backlog: false)
        deadline = @configuration.shutdown_timeout&.+(Clock.now)
        @health.stop
        @server.stop(timeout: @configuration.shutdown_timeout, backlog:)
        Background.stop_all(timeout: deadline && Clock.left(deadline))
      ensure
        @pubsub&.drain(timeout: 1)
        Background.reactor = false # the other threads go on until the process has ended
        @configuration.shutdown_hooks.each(&:call)
        @integrations&.each(&:call)
      end

      # Why the server is not ready for requests: see {Configuration#ready}.
      #
      # @return [String, nil] nil: it is ready
      # @asynchronous
      def obstacle = @health.obstacle

      # What the server does at this moment, as {TaskList.of} lists it. Any thread may call it.
      # @private
      def tasks(reactor) = TaskList.of(reactor, requests: @server._running_requests)

      # Whether {#reload} has an effect.
      def reloads? = !!(log_file || contexts.values.any?)

      # Opens the log and reads the certificates again. An error is logged, and the old certificates stay.
      def reload
        log_file&.reopen(log_file.path, "a")&.sync = true
        reload_certificates
      rescue SystemCallError => error
        Pelton.logger.error("cannot reload: #{error.message}")
      end

      private

      def reload_certificates
        contexts.each_value { |context| context&.reload }
      rescue TLSError => error
        Pelton.logger.error("cannot reload the certificates: #{error.message}; the old ones are served")
      end

      def find_rackup
        return if @app || File.file?(@configuration.rackup)
        raise Configuration::Invalid, "there is no #{@configuration.rackup}: name the rackup file, or write one"
      end

      # Only rackup files need the gem rack.
      def require_builder
        require "rack" # rackup files use its middleware without requiring it
        require "rack/builder"
      rescue LoadError
        raise Configuration::Invalid, "a rackup file needs the gem rack: add it to your Gemfile, or gem install rack"
      end

      def open_control
        address = @configuration.control or return
        stats = -> { @server.stats.merge(Metrics.stats) }
        metrics = -> { Metrics.text(STATS.merge(Metrics.families), {{worker: 0} => stats.call.transform_keys(&:to_s)}) }
        reactor = Reactor.current
        @control = Control.new(address, stats: stats, metrics: metrics, tasks: -> { tasks(reactor) },
          live: -> { Control.in_reactor(reactor) { nil } }, ready: -> { Control.in_reactor(reactor) { obstacle } },
          purge: ->(path) { Control.in_reactor(reactor) { {purged: @server.purge(path)} } })
      end

      # The TLS contexts by address. They are made before workers are forked, so each worker can resume the sessions of
      # all.
      def contexts
        prepare_acme unless @contexts
        files = @configuration.acme_files
        brief = files ? {handshake_only: Acme::TLSChallenges.contexts(files)} : {}
        @contexts ||= @configuration.addresses.to_h do |address, tls|
          tls = {**brief, **tls} if tls
          [address, HTTP.tls_context(tls, http2: HTTP.http2? && @configuration.max_streams != 0)]
        rescue TLSError, ArgumentError => error
          raise Configuration::Invalid, "#{address}: #{error.message}"
        end
      end

      def prepare_acme
        files = @configuration.acme_files or return
        Acme::Order.prepare
        files.prepare
      rescue LoadError => error
        raise Configuration::Invalid, error.message
      rescue SystemCallError => error
        raise Configuration::Invalid, "acme_folder: #{error.message}: name a folder that the server may write"
      end

      # The application, where TLS is wanted for all and where an authority asks for the names of its certificate.
      def guarded(app)
        redirects, hsts = @configuration.redirects?, @configuration.hsts
        app = HTTPSOnly.new(app, redirect: redirects, hsts: hsts, port: tls_port) if redirects || hsts
        files = @configuration.acme_files
        files ? Acme::Challenges.new(app, files) : app
      end

      def tls_port
        address = @configuration.addresses.find { |_, tls| tls }&.first
        address ? Address.new(address).port : 443
      end

      # Renews certificates, or notices that others have renewed them. Every process reads them for itself.
      def keep_certificates
        files = @configuration.acme_files
        return unless files || @configuration.tls_reload
        watch = CertificateWatch.new(contexts.values.compact.flat_map(&:files)) { reload_certificates }
        reload_certificates # they may have changed before they were watched
        Pelton.spawn(name: "changed certificates", transient: true) { watch.run }
        return unless files
        order = Acme::Order.new(files, directory: @configuration.acme_directory, contact: @configuration.acme_contact,
          ways: Acme::Order::WAYS.keys - (contexts.value?(nil) ? [] : %w[http-01]))
        renewal = Acme::Renewal.new(files, order) { watch.look }
        Pelton.spawn(name: "certificate for #{files.names.join(", ")}", transient: true) { renewal.run }
      end

      # Workers of a preloaded application share its memory, and would copy what they join.
      def join_memory
        return if !@configuration.huge_pages || (@configuration.preload && @configuration.workers.positive?)
        Pelton.spawn(name: "huge pages", transient: true) { HugePages.join_while_memory_grows }
      end

      def access_log
        return if @configuration.quiet || @configuration.log == File::NULL
        Configuration::LOG_FORMATS.fetch(@configuration.log_format).new(log_file || @out)
      end

      def log_file
        return if @configuration.quiet || [nil, File::NULL].include?(@configuration.log)
        @log_file ||= File.open(@configuration.log, "a").tap { |file| file.sync = true }
      end

      def announce
        return if @configuration.quiet
        @server.listeners.zip(@configuration.addresses.keys) do |listener, address|
          address = address.sub(/:0\z/) { ":#{listener.port}" }
          @out.puts("Pelton #{VERSION} listens on #{Configuration.url(address)} (pid #{Process.pid})")
        end
        @out.flush
      end

      # @return [Thread::Queue<String>] the names of the signals as they come
      def trap_signals(stop_limit)
        signals = Thread::Queue.new
        names = @sockets ? %w[INT TERM HUP USR1 USR2] : %w[INT TERM HUP]
        ends = 0
        @handlers = names.to_h do |name|
          [name, Signal.trap(name) do
            signals << name
            StopLimit.from_now(SECOND_LIMIT) if stop_limit && %w[INT TERM].include?(name) && (ends += 1) == 2
          end]
        end
        StopLimit.after(stop_limit, names - (reloads? ? %w[HUP] : [])) if stop_limit
        reactor = Reactor.current
        @handlers["TTIN"] = TaskList.log_at("TTIN") { tasks(reactor) }
        signals
      end

      # Handles signals until one ends the server.
      def handle_signals(signals)
        stopping = nil
        while (name = signals.pop)
          if name == "HUP" && reloads?
            reload
          elsif !stopping
            stopping = name
            @again = name.start_with?("USR")
            @on_stop&.call(@again)
            @companions.stop
            @sockets&.close unless @again # new connections must be refused, not left waiting in the backlog
            Pelton.spawn(detached: true) do
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

      def restore_signals = @handlers&.each { |name, handler| Signal.trap(name, handler || "DEFAULT") }
    end
  end
end
