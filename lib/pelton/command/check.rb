# frozen_string_literal: true

require "openssl"
require_relative "../cluster"
require_relative "socket_owner"

module Pelton
  module Command
    # `pelton serve --check`: says in one line each what would keep the server from serving, and how to cure it. As
    # `nginx -t` it may run next to the server, before a restart: it starts no worker, calls no hook, accepts no
    # connection, and leaves files and sockets alone. So an address at which somebody listens is no problem, but worth a
    # line. The application is loaded, and does what it does then.
    class Check
      # Seconds of a certificate's life below which it is mentioned.
      SOON = 14 * 86_400
      private_constant :SOON

      # @param command [HTTP::Command]
      def initialize(command, out: $stdout, error: $stderr)
        @command = command
        @out = out
        @error = error
        @problems = 0
      end

      # @return [Integer] the exit status: 0, or 1 when there is a problem
      def run
        check_all if attempt { @command.configuration }
        return 1.tap { @error.puts("pelton serve: #{@problems} problem#{"s" if @problems > 1}") } if @problems.positive?
        @out.puts("pelton serve: the configuration is good")
        0
      end

      private

      def configuration = @command.configuration

      def check_all
        @command.notes.each { |text| note(text) }
        configuration.addresses.each do |address, tls|
          attempt { check_address(address) }
          attempt(address) { check_certificate(address, tls) } if tls
        end
        attempt("control") { check_control(configuration.control) } if configuration.control
        %i[log pidfile].each do |name|
          path = configuration.public_send(name)
          attempt(name.to_s) { check_file(path) } if path
        end
        if configuration.cluster_options[:memory] && configuration.workers.zero?
          note("worker_memory has no effect without workers: set workers 1")
        end
        check_application
      end

      def check_address(address)
        return unless Cluster::Sockets.probe(address) == :in_use
        owner = SocketOwner.of(address)
        note("#{address} is in use#{" by #{owner}" if owner}: whoever listens there must stop, or hand it over " \
          "(USR2), before this server can start")
      end

      def check_control(address)
        address = "unix://#{address}" unless address.include?("://")
        if Address.new(address).tls?
          raise ArgumentError, "#{address}: it does not speak TLS: give tcp:// or the path of a UNIX socket"
        end
        check_address(address)
      end

      def check_certificate(address, tls)
        HTTP.tls_context(tls)
        text = tls[:certificate]
        return unless text.is_a?(String)
        text = File.read(text) unless text.include?("-----BEGIN")
        ends = OpenSSL::X509::Certificate.new(text).not_after
        raise ArgumentError, "the certificate has expired (#{ends.utc}): renew it" if ends < Time.now
        note("#{address}: the certificate expires soon (#{ends.utc}): renew it") if ends < Time.now + SOON
      end

      def check_file(path)
        return if path == File::NULL
        raise ArgumentError, "#{path} is a folder: name a file" if File.directory?(path)
        folder = File.dirname(path)
        raise ArgumentError, "#{path}: there is no folder #{folder}: make it" unless File.directory?(folder)
        unless File.writable?(File.exist?(path) ? path : folder)
          raise ArgumentError, "#{path} cannot be written: give it, or #{folder}, to this user"
        end
      end

      # It may fail with any error, and may even end the process.
      def check_application
        app = HTTP::Launcher.new(configuration, out: @out).load_app
        unless app.respond_to?(:call)
          problem("#{configuration.rackup}: the application must respond to call, which #{app.class} does not")
        end
      rescue HTTP::Configuration::Invalid => error
        problem(error.message)
      rescue SystemExit => error
        problem(
          "#{configuration.rackup}: the application ends the process with status #{error.status} when it is loaded"
        )
      rescue StandardError, ScriptError => error
        problem("#{configuration.rackup}: #{error.message.lines.first.to_s.strip} " \
          "(#{error.class})#{" at #{error.backtrace.first}" if error.backtrace&.any?}")
      end

      # Returns whether the block raises nothing that the user can cure.
      def attempt(name = nil)
        yield
        true
      rescue OptionParser::ParseError, Pelton::Error, ArgumentError, SystemCallError, OpenSSL::OpenSSLError => error
        message = error.message.sub(/ @ \w+/, "") # Ruby adds its function's name
        problem((name && !message.start_with?(name)) ? "#{name}: #{message}" : message)
        false
      end

      def problem(text)
        @problems += 1
        @error.puts("pelton serve: #{text}")
      end

      def note(text) = @out.puts("pelton serve: #{text}")
    end
  end
end
