# frozen_string_literal: true

require_relative "../http"

module Pelton
  module HTTP
    # The settings of `pelton serve`: a file in Ruby, and flags, which win.
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
      NUMBERS = %i[workers shutdown_timeout].freeze
      # The variables that name the environment, as Puma reads them.
      ENVIRONMENTS = %w[APP_ENV RACK_ENV RAILS_ENV].freeze
      # In an address: the host by the environment, which may be set later.
      BY_ENVIRONMENT = "*"
      private_constant :NUMBERS, :ENVIRONMENTS, :BY_ENVIRONMENT

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

      # @return [Array<Proc>] called after a process has finished its requests
      attr_reader :shutdown_hooks

      def initialize
        @binds = {}
        @modes = {}
        @server_options = {}
        @cluster_options = {}
        @boot_hooks = []
        @shutdown_hooks = []
        @values = {rackup: "config.ru", workers: 0, preload: false, quiet: false, log: nil, control: nil, shutdown_timeout: 30, environment: nil,
                   pidfile: nil, tag: nil}
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
      rescue SyntaxError => error
        raise Invalid, error.message # it contains the line
      rescue SystemCallError, NameError, ArgumentError, TypeError => error
        raise Invalid, "#{location(path, error)}: #{error.message.sub(/ @ \w+/, "")}" # Ruby adds its function's name to a system's error
      end

      # Adds an address to listen on.
      #
      # @param address [String] tcp://host:port, unix:///path, or ssl://host:port: see {Address}
      # @param mode [Integer, nil] the permissions of a UNIX socket, such as 0o660; nil: by the umask
      # @param tls [Hash] for ssl://, the options of {TLS::Context#initialize} (certificate:, key:, sni: ...)
      # @raise [ArgumentError] the address is invalid, ssl:// has no certificate, or an option does not go with the address
      def bind(address, mode: nil, **tls)
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

      # Listens on a port: of 127.0.0.1 in development, otherwise of all local addresses; or of one host.
      def port(number, host = BY_ENVIRONMENT)
        number = Integer(number)
        raise ArgumentError, "a port is 0 to 65535, not #{number}" unless (0..65_535).cover?(number)
        bind("tcp://#{host}:#{number}")
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
      %i[rackup workers preload quiet log control shutdown_timeout environment pidfile tag].each do |name|
        define_method(name) do |*value|
          return @values[name] if value.empty?
          @values[name] = NUMBERS.include?(name) ? number(name, value.first) : value.first
        end
      end

      # The options of {Server::DEFAULTS}: concurrency, request_timeout ...
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

      def number(name, value)
        number = value.is_a?(String) ? Integer(value, 10, exception: false) || Float(value, exception: false) : value
        return number if (name == :workers) ? number.is_a?(Integer) && number >= 0 : value.nil? || number.is_a?(Numeric) && number >= 0
        raise ArgumentError, "#{name}: must be #{(name == :workers) ? "an integer" : "a number"} of 0 or more, not #{value.inspect}"
      end

      # The line of the file that raised an error.
      def location(path, error)
        line = error.backtrace_locations&.find { |location| location.path == path }&.lineno
        line ? "#{path}:#{line}" : path
      end

      def method_missing(name, ...) = raise(ArgumentError, "there is no setting #{name}")

      def respond_to_missing?(...) = false
    end
  end
end
