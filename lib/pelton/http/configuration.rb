# frozen_string_literal: true

require_relative "../http"
require_relative "settings"

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
      # Seconds for the block of {#ready}: a little less than the second that Kubernetes waits for an answer.
      READY_TIMEOUT = 0.9
      # Numbers next to the settings' values.
      AFTER = Setting.new(:after, :seconds, 60, "of life before which no worker is replaced", taken_by: :master)
      TIMEOUT = Setting.new(:timeout, :seconds, READY_TIMEOUT, "for the block of ready", taken_by: :program)
      # What may follow "?" in an address.
      QUERY = {"cert" => :certificate, "key" => :key, "ca" => :ca_file, "mode" => :mode}.freeze
      # The variables that name the environment, as Puma reads them.
      ENVIRONMENTS = %w[APP_ENV RACK_ENV RAILS_ENV].freeze
      # In an address: the host by the environment, which may be set later.
      BY_ENVIRONMENT = "*"
      private_constant :AFTER, :TIMEOUT, :QUERY, :ENVIRONMENTS, :BY_ENVIRONMENT

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
        @values = {}
        @worker_memory_after = 60
        @companions = []
        @boot_hooks = []
        @shutdown_hooks = []
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
        # Ruby adds its function's name to a system's error
        message = error.message.lines.first.to_s.chomp.sub(/ @ \w+/, "")
        raise Invalid, "#{location(path, error)}: #{message}"
      end

      # Adds an address to listen on.
      #
      # @param address [String] tcp://host:port, unix:///path, or ssl://host:port: see {Address}. It may have the
      #   options after it, as on the command line: unix:///path?mode=660, ssl://host:port?cert=FILE&key=FILE&ca=FILE
      # @param mode [Integer, nil] the permissions of a UNIX socket, such as 0o660; nil: by the umask
      # @param tls [Hash] for ssl://, the options of {TLS::Context#initialize} (certificate:, key:, sni: ...)
      # @raise [ArgumentError] the address is invalid, ssl:// has no certificate, or an option does not go with the
      #   address
      def bind(address, mode: nil, **tls)
        plain, query = address.split("?", 2)
        return bind(plain, mode: mode, **tls, **queried(address, query)) if query
        parsed = Address.new(address)
        secure = parsed.tls?
        if secure && !tls[:certificate] && !tls[:sni] && !acme && !self.tls
          raise ArgumentError, "#{address}: give it a certificate: #{address}?cert=FILE&key=FILE, or certificate: " \
            "and key: in #{PLACES.first}; or name the host by acme before it"
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

      # The methods of {SETTINGS}. Without an argument each returns its value. Numbers may be text, as ENV has them.
      module Setters
        SETTINGS.each do |setting|
          define_method(setting.name) do |*value|
            return @values.fetch(setting.name, setting.default) if value.empty?
            @values[setting.name] = setting.convert(*value)
          end
        end
      end
      private_constant :Setters
      include Setters

      # Replaces a worker that has more memory (its resident set, with what it shares with other processes): the new
      # worker serves before the old one stops, and one is replaced at a time.
      #
      # @param size [Integer, String] bytes, or text such as "512M"
      # @param after [Numeric] seconds of life before which no worker is replaced. Where even new workers need more than
      #   the size, the time doubles with each, up to an hour
      # @raise [ArgumentError]
      def worker_memory(*size, after: nil)
        @worker_memory_after = AFTER.convert(after) if after
        super(*size)
      end

      # Lets responses name files by X-Sendfile: their bodies are not read, and the files are sent.
      #
      # @param folders [Array<String>] in which such files lie; or one text, with a colon between two
      # @raise [ArgumentError]
      def x_sendfile(*folders) = (folders.size < 2) ? super : super(folders)

      # Calls the block to find out whether the server is ready for requests: whenever {#ready_path}, or the control
      # socket's `/ready`, is asked for, once a second at most. Where it returns false or nil, raises, or takes too
      # long, the answer is 503.
      #
      # @param timeout [Numeric] seconds
      # @raise [ArgumentError] without a block
      def ready(timeout: READY_TIMEOUT, &block)
        raise ArgumentError, "ready needs a block that returns whether the application can serve" unless block
        @readiness = [block, TIMEOUT.convert(timeout)]
      end

      # Runs a program alongside the server, such as the workers of its jobs: it starts when the server serves, gets
      # TERM when the server stops, and has `shutdown_timeout` to end. When it ends by itself, the server stops, with
      # the exit status 1.
      #
      # @param command [Array<String>] `companion "bin/jobs"`
      # @raise [ArgumentError] without a command
      def companion(*command)
        if command.empty? || !command.all?(String)
          raise ArgumentError, "companion needs a program, and its arguments: companion \"bin/jobs\""
        end
        @companions << command
      end

      # Calls the block in the master before it forks a worker.
      def before_fork(&block) = @before_fork = block

      # Calls the block before a process serves, inside its reactor.
      def on_boot(&block) = @boot_hooks << block

      # Calls the block after a process has finished its requests, before it ends.
      def on_shutdown(&block) = @shutdown_hooks << block

      # @!endgroup

      # @return [Hash] the options of {Server#initialize} that were set
      def server_options = options(:server)

      # @return [Hash] the options of Pelton::Cluster::Master#initialize that were set
      def cluster_options
        options = options(:master)
        options[:memory_after] = @worker_memory_after if options[:memory]
        options[:before_fork] = @before_fork if @before_fork
        options
      end

      # The addresses and their TLS options. Without an address it is port 9292, see {#port}; with {#acme}, ports 443
      # and 80.
      def addresses
        host = (rack_env == "development") ? "127.0.0.1" : "0.0.0.0"
        binds = @binds.empty? ? default_binds : @binds
        binds.to_h do |address, tls|
          tls = {certificate: certificate_of_its_own, **tls} if tls && !tls[:certificate] && !tls[:sni]
          [address.sub("//#{BY_ENVIRONMENT}:", "//#{host}:"), tls]
        end
      end

      # @return [Acme::Folder, nil] nil: certificates are the operator's
      # @private
      def acme_files
        return unless acme
        require_relative "acme" # it loads openssl
        @acme_files ||= Acme::Folder.new(acme_folder, acme)
      end

      # @return [Boolean] whether requests without TLS are redirected. It is the default where the addresses are those
      #   of {#acme}
      # @private
      def redirects? = @values.fetch(:https_only) { @binds.empty? && !acme.nil? }

      # The environment: the setting, or else APP_ENV, RACK_ENV or RAILS_ENV, or else "development".
      def rack_env = environment || ENV.values_at(*ENVIRONMENTS).compact.first || "development"

      private

      def default_binds
        return {"ssl://0.0.0.0:443" => {}, "tcp://0.0.0.0:80" => nil} if acme
        tls ? {"ssl://#{BY_ENVIRONMENT}:#{PORT}" => {}} : {"tcp://#{BY_ENVIRONMENT}:#{PORT}" => nil}
      end

      # The path of a file with the certificate and its key.
      def certificate_of_its_own
        return acme_files.certificate_path if acme
        if rack_env == "production"
          raise Invalid, "tls: it is for development: give ssl:// a certificate, or name the host by acme"
        end
        require_relative "local_authority" # it loads openssl
        @local_certificate ||= LocalAuthority.default.prepare
      rescue SystemCallError => error
        raise Invalid, "tls: #{error.message}"
      end

      def options(taker)
        set = SETTINGS.select { |setting| setting.taken_by == taker && @values.key?(setting.name) }
        set.to_h { |setting| [setting.option, @values[setting.name]] }
      end

      # The options after an address. Values may contain "=".
      def queried(address, query)
        query.split("&").to_h do |pair|
          name, value = pair.split("=", 2)
          option = QUERY.fetch(name) { raise ArgumentError, "#{address}: #{name}: give #{QUERY.keys.join(", ")}" }
          [option, (option == :mode) ? octal(address, value) : value]
        end
      end

      def octal(address, text)
        Integer(text, 8, exception: false) ||
          raise(ArgumentError, "#{address}: mode=#{text}: give an octal number such as 660")
      end

      # The line of the file that raised an error.
      def location(path, error)
        line = error.backtrace_locations&.find { |location| location.path == path }&.lineno
        line ? "#{path}:#{line}" : path
      end

      def method_missing(name, ...)
        suggestion =
          Pelton.suggestion(name, self.class.public_instance_methods(false) + Setters.public_instance_methods)
        raise ArgumentError, "there is no setting #{name}#{suggestion}"
      end

      def respond_to_missing?(...) = false
    end
  end
end
