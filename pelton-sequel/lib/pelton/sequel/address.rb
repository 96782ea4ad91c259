# frozen_string_literal: true

require "uri"
require "pelton/address"
require_relative "error"

module Pelton
  module Sequel
    # The address of a database, as {Sequel.connect} takes it.
    # @private
    class Address
      DRIVERS = {"sqlite" => :sqlite, "pelton-sqlite" => :sqlite, "postgres" => :postgres, "postgresql" => :postgres,
                 "mysql" => :mysql, "mysql2" => :mysql,
                 "mariadb" => :mysql, "trilogy" => :mysql}.freeze
      FORMS =
        "sqlite://app.db, sqlite::memory:, postgres://user:password@host/database or " \
        "mysql://user:password@host/database"

      # Parameters of libpq, which Sequel does not pass on from an address.
      # @see https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS
      LIBPQ = %i[hostaddr passfile require_auth channel_binding client_encoding options application_name
        fallback_application_name keepalives
        keepalives_idle keepalives_interval keepalives_count tcp_user_timeout gssencmode krbsrvname sslcert sslkey
        sslpassword sslcrl sslcrldir sslsni
        sslcertmode sslnegotiation ssl_min_protocol_version ssl_max_protocol_version requirepeer service
        target_session_attrs load_balance_hosts].freeze
      # A server that has gone without a word, as with its cable, is noticed within some 20 seconds. The kernel's own
      # limits are a quarter of an hour for a query that is not acknowledged, and two hours for a result that does not
      # come.
      NOTICE = {keepalives_idle: 10, keepalives_interval: 5, keepalives_count: 2, tcp_user_timeout: 20_000}.freeze
      private_constant :LIBPQ, :NOTICE

      # @return [Symbol] :sqlite, :postgres or :mysql
      attr_reader :driver

      # @return [Hash] Sequel's options
      attr_reader :options

      # @param text [String]
      # @raise [ConfigurationError] if it cannot be parsed
      def initialize(text)
        scheme, rest = text.to_s.split(":", 2)
        @driver = DRIVERS[scheme&.downcase] if rest
        unless @driver
          raise ConfigurationError,
            "#{Pelton::Address.without_secrets(text).inspect} is no address of a database. It is #{FORMS}"
        end
        @options = (@driver == :sqlite) ? file_options(rest) : server_options(text)
        if @driver == :postgres
          @options = {**@options.except(*LIBPQ), driver_options: {**NOTICE, **@options.slice(*LIBPQ)}}
        end
      end

      # @param driver [Symbol]
      # @param options [Hash] Sequel's
      # @return [String] without a password
      def self.describe(driver, options)
        return "sqlite:#{"//" unless options[:database] == ":memory:"}#{options[:database]}" if driver == :sqlite
        "#{driver}://#{"#{options[:user]}@" if options[:user]}#{options[:host]}" \
          "#{":#{options[:port]}" if options[:port]}/#{options[:database]}"
      end

      # @return [String] without a password
      def to_s = self.class.describe(driver, options)

      # @return [String] without a password
      def inspect = "#<#{self.class} #{self}>"

      # @return [Boolean]
      def memory? = options[:database] == ":memory:"

      private

      def file_options(rest)
        path, query = rest.delete_prefix("//").split("?", 2)
        path = ":memory:" if path.nil? || ["", "/", ":memory:", "/:memory:"].include?(path)
        {database: path, **query_options(query)}
      end

      SEVERAL = %r{\A(\w+://(?:[^/@]*@)?)([^/?@]*,[^/?@]*)(.*)\z}m
      private_constant :SEVERAL

      def server_options(text)
        head, hosts, rest = SEVERAL.match(text)&.captures
        return one_server_options(text) unless hosts
        unless driver == :postgres
          raise ConfigurationError, "#{Pelton::Address.without_secrets(text)}: an address has one server. Those that " \
            "only read are named by replicas:, others are behind a proxy"
        end
        pairs = hosts.split(",").map { |host| host.match(/\A(.*?)(?::(\d+))?\z/).captures }
        {**one_server_options("#{head}several#{rest}"), host: pairs.map(&:first).join(","),
          port: (pairs.map(&:last).join(",") if pairs.any?(&:last))}.compact
      end

      def one_server_options(text)
        uri = URI.parse(text)
        name = URI.decode_www_form_component(uri.path.to_s.delete_prefix("/"))
        if name.empty?
          raise ConfigurationError,
            "#{Pelton::Address.without_secrets(text)}: the name of the database is missing. The address is #{FORMS}"
        end
        parts = {user: uri.user, password: uri.password}.compact.transform_values do |part|
          URI.decode_www_form_component(part.gsub("+", "%2B")) # a plus sign is no space here
        end
        {host: uri.hostname, port: uri.port, database: name, **parts, **query_options(uri.query)}.compact
      rescue URI::InvalidURIError # its message contains the password
        raise ConfigurationError, "#{Pelton::Address.without_secrets(text)}: the address cannot be read. Write " \
          "special letters of the password as %40 for @, %2F for /", cause: nil
      end

      def query_options(query) = URI.decode_www_form(query.to_s).to_h { |name, value| [name.to_sym, value] }
    end
  end
end
