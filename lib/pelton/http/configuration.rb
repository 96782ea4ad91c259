# frozen_string_literal: true

require_relative "../http"

module Pelton
  module HTTP
    # What `pelton serve` is told: by a file in Ruby, and by flags, which win.
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
      private_constant :NUMBERS

      # A setting or a file that cannot be used.
      class Invalid < Error
      end

      # @return [Hash{String => Hash, nil}] addresses, and what TLS is given for those with ssl://
      attr_reader :binds

      # @return [Hash{String => Integer}] permissions of UNIX sockets, by path
      attr_reader :modes

      # @return [Hash] for {Server#initialize}
      attr_reader :server_options

      # @return [Hash] for Pelton::Cluster::Master#initialize
      attr_reader :cluster_options

      # @return [Array<Proc>] called before a process serves, inside its reactor
      attr_reader :boot_hooks

      # @return [Array<Proc>] called when a process has finished its requests
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

      # Reads a file, or the first of {PLACES} that is there.
      #
      # @return [self]
      # @raise [Invalid]
      def load(path = PLACES.find { |place| File.file?(place) })
        return self unless path
        instance_eval(File.read(path), path)
        self
      rescue SyntaxError => error
        raise Invalid, error.message # which says where
      rescue SystemCallError, NameError, ArgumentError, TypeError => error
        raise Invalid, "#{place(path, error)}: #{error.message}"
      end

      # Listens there, too.
      #
      # @param address [String] tcp://host:port, unix:///path, or ssl://host:port: see {Address}
      # @param mode [Integer, nil] a UNIX socket's permissions: 0o660; nil: as the umask has it
      # @param tls [Hash] of ssl://: what {TLS::Context#initialize} takes (certificate:, key:, sni: ...)
      # @raise [ArgumentError] the address cannot be read, or ssl:// has no certificate
      def bind(address, mode: nil, **tls)
        place = Address.new(address)
        secure = place.tls?
        if secure && !tls[:certificate] && !tls[:sni]
          raise ArgumentError, "#{address}: give it a certificate: #{address}?cert=FILE&key=FILE, or certificate: and key: in #{PLACES.first}"
        end
        raise ArgumentError, "#{address}: #{tls.keys.join(", ")}: only ssl:// takes that" if !secure && tls.any?
        raise ArgumentError, "#{address}: mode: only unix:// takes that" if mode && !place.path
        @modes[place.path] = mode if mode
        @binds[address] = secure ? tls : nil
      end

      # Sets a port of all local addresses.
      def port(number, host = "0.0.0.0") = bind("tcp://#{host}:#{Integer(number)}")

      # @!group Settings; without an argument each says what it is. Numbers may be text, as ENV has them

      # @!method rackup(path)
      # @!method workers(count) 0: this process serves
      # @!method preload(yes) loads the application before the workers are forked
      # @!method quiet(yes) says nothing, and logs no requests
      # @!method log(path) where requests are logged; standard output unless it is set
      # @!method control(address) of a {Control} socket: tcp://host:port, unix:///path or a path
      # @!method shutdown_timeout(seconds) for requests that are under way when the server stops
      # @!method environment(name) RACK_ENV
      # @!method pidfile(path) holds the process id while `pelton serve` runs: the master's, where there are workers
      # @!method tag(text) in the workers' names, for ps
      %i[rackup workers preload quiet log control shutdown_timeout environment pidfile tag].each do |name|
        define_method(name) do |*value|
          return @values[name] if value.empty?
          @values[name] = NUMBERS.include?(name) ? number(name, value.first) : value.first
        end
      end

      # As {Server::DEFAULTS}: concurrency, request_timeout ...
      Server::DEFAULTS.each_key do |name|
        define_method(name) { |value| @server_options[name] = number(name, value) }
      end

      # Has rack.url_scheme be https for connections without TLS, too: behind a proxy that has it.
      def secure(yes) = @server_options[:secure] = yes

      # As Pelton::Cluster::Master#initialize has them.
      %i[boot_timeout worker_timeout].each do |name|
        define_method(name) { |value| @cluster_options[name] = number(name, value) }
      end

      # Has the block called in the master, before each worker is forked.
      def before_fork(&block) = @cluster_options[:before_fork] = block

      # Has the block called before a process serves.
      def on_boot(&block) = @boot_hooks << block

      # Has the block called when a process has finished its requests, before it ends.
      def on_shutdown(&block) = @shutdown_hooks << block

      # @!endgroup

      # The addresses; port 9292 when none was named.
      def addresses = @binds.empty? ? {"tcp://0.0.0.0:#{PORT}" => nil} : @binds

      private

      def number(name, value)
        number = value.is_a?(String) ? Integer(value, 10, exception: false) || Float(value, exception: false) : value
        return number if (name == :workers) ? number.is_a?(Integer) && number >= 0 : value.nil? || number.is_a?(Numeric) && number >= 0
        raise ArgumentError, "#{name}: #{value.inspect} is no number that it can be"
      end

      # The file's line that an error has come from.
      def place(path, error)
        line = error.backtrace_locations&.find { |location| location.path == path }&.lineno
        line ? "#{path}:#{line}" : path
      end

      def method_missing(name, ...) = raise(ArgumentError, "there is no setting #{name}")

      def respond_to_missing?(...) = false
    end
  end
end
