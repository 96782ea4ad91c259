# frozen_string_literal: true

require_relative "../../../pelton"
require_relative "tls_challenges"

module Pelton
  module HTTP
    module Acme
      # An authority refuses a certificate, or cannot be reached.
      # @private
      class Refused < Pelton::Error
        # @return [Numeric, nil] seconds after which the authority wants to be asked again
        attr_reader :retry_after

        def initialize(message, retry_after: nil)
          super(message)
          @retry_after = retry_after
        end
      end

      # Gets a certificate: the account, the order, its challenges, the certificate. The protocol is that of the gem
      # acme-client, which lacks TLS-ALPN-01.
      # @private
      class Order
        # How a server shows that it has a name, and where the authority looks.
        WAYS = {
          "http-01" =>
            "http://%s:80/.well-known/acme-challenge/, so this name must lead to this server, and port 80 be open",
          "tls-alpn-01" => "%s:443, so this name must lead to this server, and no proxy before it may end TLS"
        }.freeze
        LIMIT = 120 # seconds for the whole
        WAITS = {request: {open_timeout: 10, timeout: 30}}.freeze
        PAUSE = 0.5 # seconds between two looks at what the authority has found out
        private_constant :LIMIT, :WAITS, :PAUSE

        # @param folder [Folder]
        # @param directory [String] the URL of the authority's directory
        # @param contact [String, nil] an address of mail
        # @param ways [Array<String>] of {WAYS}: those that the server can answer, the preferred one first. An attempt
        #   takes the first one that the authority offers; after it has failed, the next attempt begins with the second
        def initialize(folder, directory:, contact: nil, ways: WAYS.keys)
          @folder = folder
          @directory = directory
          @contact = contact
          @ways = ways
        end

        # Loads the gem.
        #
        # @raise [LoadError] it is missing; the message says what to do
        def self.prepare = Pelton.require_gem("acme-client", "`acme` needs the gem acme-client: add it to your Gemfile")

        # @return [Array(String, String)] the certificate with its chain, and its key, in PEM
        # @raise [Refused]
        # @asynchronous
        def certificate
          Pelton.timeout(LIMIT) { obtain }
        rescue Refused
          raise
        rescue TimeoutError
          raise Refused, "the authority has not answered within #{LIMIT} s"
        rescue ::Acme::Client::Error::Timeout => error
          raise Refused, "#{@directory} cannot be reached#{": #{error.cause.message}" if error.cause}"
        rescue ::Acme::Client::Error => error
          raise Refused.new(error.message, retry_after: error.respond_to?(:retry_after) ? error.retry_after : nil)
        rescue => error # of the network, TLS or JSON, through several libraries
          raise Refused, "#{@directory}: #{error.class}: #{error.message}"
        end

        private

        def obtain
          # An authority may refuse any nonce (RFC 8555, section 6.5).
          client = ::Acme::Client.new(private_key: @folder.account_key, directory: @directory,
            connection_options: WAITS, bad_nonce_retry: 10)
          client.new_account(contact: @contact ? "mailto:#{@contact}" : [], terms_of_service_agreed: true)
          order = client.new_order(identifiers: @folder.names)
          order.authorizations.each { |authorization| prove(client, authorization) }
          key = OpenSSL::PKey::EC.generate("prime256v1")
          order.finalize(csr: ::Acme::Client::CertificateRequest.new(private_key: key, names: @folder.names))
          wait_for(order, %w[pending ready processing])
          raise Refused, "the order is #{order.status}, not valid" unless order.status == "valid"
          [order.certificate, key.to_pem]
        end

        # Shows that this server answers at the name.
        def prove(client, authorization)
          return if authorization.status == "valid" # it was shown before
          name = authorization.domain
          way, challenge = choose(client, authorization)
          raise Refused, "#{name}: the authority offers none of #{@ways.join(", ")}" unless way
          answering(way, name, challenge) do
            challenge.request_validation
            wait_for(challenge, %w[pending processing])
          end
          return if challenge.status == "valid"
          @ways = @ways.rotate
          reason = challenge.error&.fetch("detail", nil) || challenge.status
          raise Refused, "#{name}: #{reason}. The authority asks at #{format(WAYS.fetch(way), name)}"
        end

        # @return [Array(String, Acme::Client::Resources::Challenges::Base), nil]
        def choose(client, authorization)
          offered = authorization.to_h.fetch(:challenges).to_h { |one| [one.fetch("type"), one] }
          way = @ways.find { |one| offered.key?(one) } or return
          attributes = offered.fetch(way).transform_keys(&:to_sym).slice(:type, :status, :url, :token, :error)
          [way, ::Acme::Client::Resources::Challenges.new(client, **attributes)]
        end

        def answering(way, name, challenge, &block)
          answer = challenge.key_authorization
          return @folder.offering(challenge.token, answer, &block) if way == "http-01"
          @folder.offering_certificate(name, TLSChallenges.certificate(name, answer), &block)
        end

        def wait_for(resource, states)
          while states.include?(resource.status)
            sleep PAUSE
            resource.reload
          end
        end
      end
    end
  end
end
