# frozen_string_literal: true

require_relative "http"

Pelton.require_gem("faraday", "Pelton's adapter needs Faraday: add gem \"faraday\" to the Gemfile")

module Pelton
  # An adapter for Faraday, by which most clients of APIs make their requests: with it they wait in fibers, and keep
  # their connections open.
  #
  #     require "pelton/faraday"
  #
  #     Faraday.default_adapter = :pelton
  #
  # All connections of Faraday with the same settings share one {HTTP::Client}, and so its connections and TLS sessions.
  # Errors are those of Faraday's adapter for Net::HTTP: Faraday::TimeoutError, Faraday::SSLError and
  # Faraday::ConnectionFailed, with the original one as their cause.
  class FaradayAdapter < ::Faraday::Adapter
    # The options of the client, unless `adapter :pelton, concurrency: 10` has others. Faraday follows redirects by
    # middleware, and limits no body.
    OPTIONS = {concurrency: 256, redirects: 0, max_body: nil, proxy: nil}.freeze

    # Faraday's names of what a {TLS::Context} takes, and those that it cannot have.
    TLS_OPTIONS = {ca_file: :ca_file, ca_path: :ca_path, verify: :verify, client_key: :key, ciphers: :ciphers}.freeze
    OTHER_TLS_OPTIONS = %i[cert_store version verify_mode verify_depth].freeze

    # Headers that the client sets by itself, from the body.
    OWN_HEADERS = %w[content-length transfer-encoding].freeze

    # Different settings for which clients are kept.
    CLIENTS = 100
    private_constant :OPTIONS, :TLS_OPTIONS, :OTHER_TLS_OPTIONS, :OWN_HEADERS, :CLIENTS

    @clients = {}
    @mutex = Mutex.new

    class << self
      # @return [HTTP::Client] the same for the same settings
      # @private
      def client(settings)
        @mutex.synchronize do
          @clients[settings] ||= begin
            @clients.shift if @clients.size >= CLIENTS
            HTTP::Client.new(**settings)
          end
        end
      end
    end

    # @param env [Faraday::Env]
    # @return [Faraday::Response]
    # @raise [Faraday::TimeoutError, Faraday::SSLError, Faraday::ConnectionFailed]
    # @asynchronous
    def call(env)
      super
      perform(env, build_connection(env))
      @app.call(env)
    rescue TimeoutError => error
      raise ::Faraday::TimeoutError, error
    rescue TLSError => error
      raise ::Faraday::SSLError, error
    rescue Error, SystemCallError => error
      raise ::Faraday::ConnectionFailed, error
    end

    # @param env [Faraday::Env]
    # @return [HTTP::Client]
    # @raise [ArgumentError] an option of TLS that is not supported
    def build_connection(env)
      FaradayAdapter.client(OPTIONS.merge(@connection_options, tls: tls(env[:ssl]),
        proxy: proxy(env[:request][:proxy])))
    end

    private

    def perform(env, client)
      headers = env[:request_headers].to_h.reject { |name,| OWN_HEADERS.include?(name.downcase) }
      decode = headers.keys.none? { |name| name.casecmp?("accept-encoding") }
      response = client.request(env[:method].to_s.upcase, env[:url].to_s, headers: headers, body: body(env),
        decode: decode, stream: true,
        **timeouts(env[:request]))
      save_response(env, response.status, nil, joined(response.headers), response.reason, finished: false)
      env.response_body = read(env, response)
      env.response.finish(env)
    end

    # Faraday has `""` for no body.
    def body(env) = (env[:body].respond_to?(:empty?) && env[:body].empty?) ? nil : env[:body]

    def read(env, response)
      return response.body unless env.stream_response?
      env.stream_response { |&on_data| response.each(&on_data) }
      +""
    ensure
      response.close
    end

    def joined(headers) = headers.transform_values { |value| Array(value).join(", ") }

    # As Faraday has them: `timeout` is the limit of each phase that has none of its own.
    def timeouts(request)
      read, open, write = %i[read open write].map { |phase| request_timeout(phase, request) }
      {response_timeout: read, read_timeout: read, connect_timeout: open, write_timeout: write}.compact
    end

    def proxy(proxy)
      return unless proxy
      url = proxy[:uri].dup
      if proxy[:user]
        url.user, url.password = [proxy[:user], proxy[:password]].map do |part|
          part && URI.encode_www_form_component(part)
        end
      end
      url.to_s
    end

    # The host's name is always verified, unless nothing is.
    def tls(ssl)
      ssl = ssl.to_h.compact
      other = OTHER_TLS_OPTIONS & ssl.keys
      if other.any?
        raise ArgumentError, "ssl: #{other.join(", ")}: Pelton's adapter takes #{TLS_OPTIONS.keys.join(", ")}, " \
          "client_cert, min_version and max_version"
      end
      settings = TLS_OPTIONS.filter_map { |theirs, ours| [ours, ssl[theirs]] if ssl.key?(theirs) }.to_h
      if ssl[:client_cert]
        settings[:certificate] = Array(ssl[:client_cert]).map { |one| one.respond_to?(:to_pem) ? one.to_pem : one }.join
      end
      %i[min_version max_version].each { |name| settings[name] = version(ssl[name]) if ssl[name] }
      settings
    end

    # "TLSv1.2" for :TLS1_2.
    def version(name) = name.to_s.sub(/\ATLS(\d)_(\d)\z/, 'TLSv\1.\2')
  end

  ::Faraday::Adapter.register_middleware(pelton: FaradayAdapter)
end
