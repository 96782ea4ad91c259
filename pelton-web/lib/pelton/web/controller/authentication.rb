# frozen_string_literal: true

require "rack/auth/basic"

module Pelton
  module Web
    class Controller
      # Who the client is, by the header `authorization`: by name and password (Basic, RFC 7617) or by a token (Bearer, RFC 6750). Texts are
      # compared in a time that does not tell how much of them is right.
      module Authentication
        # The client has not said who it is, or nobody believes it.
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
          # Requires one name and one password before the actions.
          #
          # @param only [Symbol, Array<Symbol>] as for before_action
          # @param except [Symbol, Array<Symbol>] as for before_action
          def http_basic_authenticate_with(name:, password:, realm: "Application", only: [], except: [])
            before_action(only: only, except: except) do
              authenticate_or_request_with_http_basic(realm) do |given_name, given_password|
                Password.same?(given_name, name) & Password.same?(given_password, password) # both, whatever the first says
              end
            end
          end
        end

        private

        # @yieldparam name [String]
        # @yieldparam password [String]
        # @return [Object, nil] what the block returns; nil: the client has sent no name and password
        def authenticate_with_http_basic
          given = Rack::Auth::Basic::Request.new(env)
          return unless given.provided? && given.basic?
          credentials = given.credentials.map { |text| text.force_encoding(Encoding::UTF_8) }
          yield(*credentials) if credentials.all?(&:valid_encoding?)
        end

        # @return [Object] what the block returns
        # @raise [Required] it returns nil or false, or the client has sent no name and password
        def authenticate_or_request_with_http_basic(realm = "Application", &block)
          authenticate_with_http_basic(&block) || raise(Required, "Basic realm=#{quoted(realm)}, charset=\"UTF-8\"")
        end

        # @yieldparam token [String]
        # @return [Object, nil] what the block returns; nil: the client has sent no token
        def authenticate_with_http_token
          given = Rack::Auth::AbstractRequest.new(env)
          yield(given.params) if given.provided? && given.scheme == "bearer" && given.params.match?(/\A[\w.~+\/-]+=*\z/)
        end

        # @return [Object] what the block returns
        # @raise [Required] it returns nil or false, or the client has sent no token
        def authenticate_or_request_with_http_token(realm = "Application", &block)
          authenticate_with_http_token(&block) || raise(Required, "Bearer realm=#{quoted(realm)}")
        end

        def quoted(text) = "\"#{text.gsub(/[\\"]/) { |sign| "\\#{sign}" }}\""
      end
    end
  end
end
