# frozen_string_literal: true

require "rack/auth/basic"

module Pelton
  module Web
    class Controller
      # Authenticates clients by the header `authorization`: by name and password (Basic, RFC 7617) or by a token
      # (Bearer, RFC 6750). Texts are compared in constant time.
      module Authentication
        # Raised if the client sent no credentials, or wrong ones.
        class Required < RequestError
          status 401

          attr_reader :headers

          # @param challenge [String] the header `www-authenticate`
          def initialize(challenge)
            @headers = {"www-authenticate" => challenge}
            super("Say who you are.")
          end
        end

        # @private
        def self.included(controller) = controller.extend(Requiring)

        # @private
        module Requiring
          # Requires a name and a password for the actions.
          #
          # @param only [Symbol, Array<Symbol>] as for before_action
          # @param except [Symbol, Array<Symbol>] as for before_action
          def http_basic_authenticate_with(name:, password:, realm: "Application", only: [], except: [])
            before_action(only: only, except: except) do
              authenticate_or_request_with_http_basic(realm) do |given_name, given_password|
                Password.same?(given_name, name) & Password.same?(given_password, password) # always compares both
              end
            end
          end
        end

        private

        # @yieldparam name [String]
        # @yieldparam password [String]
        # @return [Object, nil] the block's value; nil if the client sent no name and password
        def authenticate_with_http_basic
          given = Rack::Auth::Basic::Request.new(env)
          return unless given.provided? && given.basic?
          credentials = given.credentials.map { |text| text.force_encoding(Encoding::UTF_8) }
          yield(*credentials) if credentials.all?(&:valid_encoding?)
        end

        # @return [Object] the block's value
        # @raise [Required] if the block returns nil or false, or the client sent no name and password
        def authenticate_or_request_with_http_basic(realm = "Application", &block)
          authenticate_with_http_basic(&block) || raise(Required, "Basic realm=#{quoted(realm)}, charset=\"UTF-8\"")
        end

        # @yieldparam token [String]
        # @return [Object, nil] the block's value; nil if the client sent no token
        def authenticate_with_http_token
          given = Rack::Auth::AbstractRequest.new(env)
          yield(given.params) if given.provided? && given.scheme == "bearer" && given.params.match?(/\A[\w.~+\/-]+=*\z/)
        end

        # @return [Object] the block's value
        # @raise [Required] if the block returns nil or false, or the client sent no token
        def authenticate_or_request_with_http_token(realm = "Application", &block)
          authenticate_with_http_token(&block) || raise(Required, "Bearer realm=#{quoted(realm)}")
        end

        def quoted(text) = "\"#{text.gsub(/[\\"]/) { |sign| "\\#{sign}" }}\""
      end
    end
  end
end
