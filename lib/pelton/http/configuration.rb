# frozen_string_literal: true

require_relative "../http"

module Pelton
  module HTTP
    # The settings of `pelton serve`: a file in Ruby; variables of the environment, which win over it; and flags, which
    # win over both.
    #
    # @example config/pelton.rb
    #   bind "tcp://0.0.0.0:9292"
    #   bind "unix:///run/app.sock"
    #   bind "ssl://0.0.0.0:9443", certificate: "cert.pem", key: "key.pem"
    #   workers 2
    #   log "log/access.log"
    #   request_timeout 30
    #   on_boot { DB.connect }
    class Configuration
      PLACES = %w[config/pelton.rb pelton.rb].freeze
      PORT = 9292
      LOG_FORMATS = {"common" => CommonLog, "json" => JSONLog}.freeze
      NUMBERS = %i[workers shutdown_timeout].freeze
      PUBSUB = %r{\A(rediss?|postgres(ql)?)://}
      # Settings in bytes, which may be text with a unit: "64M".
      SIZES = %i[max_target max_head max_body spool cache stream_window worker_memory].freeze
      UNITS = {"" => 0, "K" => 10, "M" => 20, "G" => 30}.freeze
      # Seconds for the block of {#ready}: a little less than the second that Kubernetes waits for an answer.
      READY_TIMEOUT = 0.9
      # What may follow "?" in an address.
      QUERY = {"cert" => :certificate, "key" => :key, "ca" => :ca_file, "mode" => :mode}.freeze
      # The variables that name the environment, as Puma reads them.
      ENVIRONMENTS = %w[APP_ENV RACK_ENV RAILS_ENV].freeze
      # In an address: the host by the environment, which may be set later.
      BY_ENVIRONMENT = "*"
      private_constant :NUMBERS, :SIZES, :UNITS, :QUERY, :ENVIRONMENTS, :BY_ENVIRONMENT

      # @param address [String]
      # @return [String] for browsers: http:// or https:// for a port
      def self.url(address) = address.sub(/\Atcp:/, "http:").sub(/\Assl:/, "https:")

      # A setting or a file is invalid.
      class Invalid < Error
      end

      # @return [Hash{String => Hash, nil}] addresses, and for ssl:// the TLS options
      attr_reader :binds

      # @return [Hash{String => Integer}] permissions of UNIX sockets, by path
      attr_reader :modes

      # @return [Hash] options for {Server#initialize}
      attr_reader :server_options

      # @return [Hash] options for Pelton::Cluster::Master#initialize
      attr_reader :cluster_options

      # @return [Array<Proc>] called before a process serves, inside its reactor
      attr_reader :boot_hooks

      # The commands of {#companion}.
      attr_reader :companions

      # @return [Array<Proc>] called after a process has finished its requests
      attr_reader :shutdown_hooks

      # @return [Array(Proc, Numeric), nil] the block of {#ready}, and the seconds that it may take
      attr_reader :readiness

      def initialize
        @binds = {}
        @modes = {}
        @server_options = {}
        @cluster_options = {}
        @companions = []
        @boot_hooks = []
        @shutdown_hooks = []
        @values = {rackup: "config.ru", workers: 0, preload: false, quiet: false, log: nil, log_format: "common", control: nil, shutdown_timeout: 30, environment: nil,
                   pidfile: nil, tag: nil, live_path: nil, ready_path: nil, pubsub: nil}
      end

      # Reads a file, or the first of {PLACES} that exists.
      #
      # @return [self]
      # @raise [Invalid] the file cannot be read, or has an error; the message has the line
      def load(path = PLACES.find { |place| File.file?(place) })
        return self unless path
        raise Invalid, "there is no configuration file #{path}" unless File.exist?(path)
        instance_eval(File.read(path), path)
        self
      rescue Invalid
        raise
      rescue SyntaxError => error
        raise Invalid, error.message # it contains the line
      rescue LoadError => error
        raise Invalid, "#{location(path, error)}: #{error.message}: add the gem to your Gemfile, or correct the name"
      rescue StandardError, ScriptError => error
        message = error.message.lines.first.to_s.chomp.sub(/ @ \w+/, "") # Ruby adds its function's name to a system's error
        raise Invalid, "#{location(path, error)}: #{message}"
      end

      # Adds an address to listen on.
      #
      # @param address [String] tcp://host:port, unix:///path, or ssl://host:port: see {Address}. It may have the options behind it, as on the
      #   command line: unix:///path?mode=660, ssl://host:port?cert=FILE&key=FILE&ca=FILE
      # @param mode [Integer, nil] the permissions of a UNIX socket, such as 0o660; nil: by the umask
      # @param tls [Hash] for ssl://, the options of {TLS::Context#initialize} (certificate:, key:, sni: ...)
      # @raise [ArgumentError] the address is invalid, ssl:// has no certificate, or an option does not go with the address
      def bind(address, mode: nil, **tls)
        plain, query = address.split("?", 2)
        return bind(plain, mode: mode, **tls, **queried(address, query)) if query
        parsed = Address.new(address)
        secure = parsed.tls?
        if secure && !tls[:certificate] && !tls[:sni]
          raise ArgumentError, "#{address}: give it a certificate: #{address}?cert=FILE&key=FILE, or certificate: and key: in #{PLACES.first}"
        end
        raise ArgumentError, "#{address}: #{tls.keys.join(", ")}: only ssl:// takes that" if !secure && tls.any?
        raise ArgumentError, "#{address}: mode: only unix:// takes that" if mode && !parsed.path
        @modes[parsed.path] = mode if mode
        @binds[address] = secure ? tls : nil
      end

      # Forgets the addresses that were added so far.
      def clear_binds = [@binds, @modes].each(&:clear)

      # Listens on a port: of 127.0.0.1 in development, otherwise of all local addresses; or of one host.
      def port(number, host = BY_ENVIRONMENT)
        value = Integer(number, exception: false)
        raise ArgumentError, "a port is 0 to 65535, not #{number.inspect}" unless value && (0..65_535).cover?(value)
        bind("tcp://#{host}:#{value}")
      end

      # @!group Settings

      # Without an argument each of these returns its value. Numbers may be text, as ENV has them.
      #
      # @!method rackup(path)
      #   The application's file; `config.ru` unless it is set.
      # @!method workers(count)
      #   Worker processes. 0: this process serves.
      # @!method preload(yes)
      #   Loads the application before the workers are forked.
      # @!method quiet(yes)
      #   Prints nothing, and logs no requests.
      # @!method log(path)
      #   The file in which requests are logged; standard output unless it is set.
      # @!method log_format(name)
      #   "common": a line of {CommonLog} for each request; "json": one of {JSONLog}, with the time that was waited, computed and queued.
      # @!method control(address)
      #   The address of a {Control} socket: `tcp://host:port`, `unix:///path` or a path.
      # @!method shutdown_timeout(seconds)
      #   Seconds for the requests that are running when the server stops.
      # @!method environment(name)
      #   RACK_ENV.
      # @!method pidfile(path)
      #   The file that holds the process id while `pelton serve` runs: the master's, where there are workers.
      # @!method tag(text)
      #   A text in the names of the worker processes, for ps.
      # @!method live_path(path)
      #   The path that is answered before the application, with 200 while the loop turns: see {Health}. There is none unless it is set.
      # @!method ready_path(path)
      #   The path that is answered before the application, with 200 or 503: whether new requests may come. There is none unless it is set.
      # @!method pubsub(url)
      #   A Redis or PostgreSQL by which processes on several machines have their topics ({PubSub}) in common. Unless it is set, the
      #   workers of one server have.
      %i[rackup workers preload quiet log log_format control shutdown_timeout environment pidfile tag live_path ready_path pubsub].each do |name|
        define_method(name) do |*value|
          return @values[name] if value.empty?
          value = value.map(&:to_s) if name == :log_format # a Symbol reads as well
          raise ArgumentError, "log_format: must be #{LOG_FORMATS.keys.join(" or ")}, not #{value.first}" if name == :log_format && !LOG_FORMATS.key?(value.first)
          raise ArgumentError, "#{name}: must be a path such as /up, not #{value.first.inspect}" if name.end_with?("_path") && !value.first.to_s.start_with?("/")
          raise ArgumentError, "pubsub: must be redis://..., rediss://... or postgres://..." if name == :pubsub && !value.first.to_s.match?(PUBSUB)
          @values[name] = NUMBERS.include?(name) ? number(name, value.first) : value.first
        end
      end

      # The options of {Server::DEFAULTS}: limit, request_timeout ...
      Server::DEFAULTS.each_key do |name|
        define_method(name) { |value| @server_options[name] = number(name, value) }
      end

      # Sets rack.url_scheme to https for connections without TLS, too: behind a proxy with TLS.
      def secure(yes) = @server_options[:secure] = yes

      # Offers `rack.early_hints` to the application: see {Server#initialize}.
      def early_hints(yes) = @server_options[:early_hints] = yes

      # The options of Pelton::Cluster::Master#initialize.
      %i[boot_timeout worker_timeout].each do |name|
        define_method(name) { |value| @cluster_options[name] = number(name, value) }
      end

      # Replaces a worker that has more memory (its resident set, with what it shares with other processes): the new worker serves before the
      # old one stops, and one is replaced at a time.
      #
      # @param size [Integer, String] bytes, or text such as "512M"
      # @param after [Numeric] seconds of life before which no worker is replaced. Where even new workers need more than the size, the
      #   time doubles with each, up to an hour
      # @raise [ArgumentError]
      def worker_memory(size, after: 60)
        @cluster_options.update(memory: number(:worker_memory, size), memory_after: number(:after, after))
      end

      # Calls the block to find out whether the server is ready for requests: whenever {#ready_path}, or the control socket's `/ready`, is asked
      # for, once a second at most. Where it returns false or nil, raises, or takes too long, the answer is 503.
      #
      # @param timeout [Numeric] seconds
      # @raise [ArgumentError] without a block
      def ready(timeout: READY_TIMEOUT, &block)
        raise ArgumentError, "ready needs a block that returns whether the application can serve" unless block
        @readiness = [block, number(:timeout, timeout)]
      end

      # Runs a program beside the server, such as the workers of its jobs: it starts when the server serves, gets TERM when the server stops, and has
      # `shutdown_timeout` to end. When it ends by itself, the server stops, with the exit status 1.
      #
      # @param command [Array<String>] `companion "bin/jobs"`
      # @raise [ArgumentError] without a command
      def companion(*command)
        raise ArgumentError, "companion needs a program, and its arguments: companion \"bin/jobs\"" if command.empty? || !command.all?(String)
        @companions << command
      end

      # Calls the block in the master before it forks a worker.
      def before_fork(&block) = @cluster_options[:before_fork] = block

      # Calls the block before a process serves, inside its reactor.
      def on_boot(&block) = @boot_hooks << block

      # Calls the block after a process has finished its requests, before it ends.
      def on_shutdown(&block) = @shutdown_hooks << block

      # @!endgroup

      # The addresses and their TLS options. Without an address it is port 9292, see {#port}.
      def addresses
        host = (rack_env == "development") ? "127.0.0.1" : "0.0.0.0"
        binds = @binds.empty? ? {"tcp://#{BY_ENVIRONMENT}:#{PORT}" => nil} : @binds
        binds.transform_keys { |address| address.sub("//#{BY_ENVIRONMENT}:", "//#{host}:") }
      end

      # The environment: the setting, or else APP_ENV, RACK_ENV or RAILS_ENV, or else "development".
      def rack_env = environment || ENV.values_at(*ENVIRONMENTS).compact.first || "development"

      private

      # Text becomes a number, as the settings in the environment are text.
      def number(name, value)
        number = value.is_a?(String) ? parse(name, value) : value
        return number if (name == :workers) ? number.is_a?(Integer) && number >= 0 : value.nil? || number.is_a?(Numeric) && number >= 0
        kind = (name == :workers) ? "an integer" : "a number"
        raise ArgumentError, "#{name}: must be #{kind} of 0 or more#{", or one with K, M or G, such as 64M" if SIZES.include?(name)}, not #{value.inspect}"
      end

      def parse(name, text)
        digits, unit = text.match(/\A(\d+)([KMG]?)B?\z/i)&.captures if SIZES.include?(name)
        return digits.to_i << UNITS.fetch(unit.upcase) if digits
        Integer(text, 10, exception: false) || Float(text, exception: false)
      end

      # The options behind an address. Values may contain "=".
      def queried(address, query)
        query.split("&").to_h do |pair|
          name, value = pair.split("=", 2)
          option = QUERY.fetch(name) { raise ArgumentError, "#{address}: #{name}: give #{QUERY.keys.join(", ")}" }
          [option, (option == :mode) ? octal(address, value) : value]
        end
      end

      def octal(address, text)
        Integer(text, 8, exception: false) || raise(ArgumentError, "#{address}: mode=#{text}: give an octal number such as 660")
      end

      # The line of the file that raised an error.
      def location(path, error)
        line = error.backtrace_locations&.find { |location| location.path == path }&.lineno
        line ? "#{path}:#{line}" : path
      end

      def method_missing(name, ...)
        suggestion = Pelton._suggestion(name, self.class.public_instance_methods(false))
        raise ArgumentError, "there is no setting #{name}#{suggestion}"
      end

      def respond_to_missing?(...) = false
    end
  end
end
