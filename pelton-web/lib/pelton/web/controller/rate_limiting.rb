# frozen_string_literal: true

module Pelton
  module Web
    class Controller
      # `rate_limit`: how often a client may call an action.
      #
      #     rate_limit to: 10, within: 180, only: :create
      #     rate_limit to: 20, within: 3600, only: :create, by: -> { params[:email] }, with: -> { redirect_to "/later" }
      module RateLimiting
        # Answers 429 beyond the limit. Requests are counted in `settings.rate_limit_store`, before the action, whatever it answers. An
        # action may have several limits.
        #
        # @param to [Integer] requests
        # @param within [Integer] seconds from the client's first request
        # @param by [Proc, Symbol, nil] says, in the controller, what is counted together; nil: not this request. Otherwise the client's address
        # @param with [Proc, Symbol, nil] answers instead
        # @param failure [Symbol] where memcached does not answer: :pass lets requests through and logs it, :refuse answers 503
        # @param name [String, nil] limits with the same name count together; otherwise a class's limits count for themselves
        # @param options [Hash] only:, except:, if: and unless:, as for before_action
        # @raise [ConfigurationError] an option is wrong
        def rate_limit(to:, within:, by: nil, with: nil, failure: :pass, name: nil, **options)
          name ||= "#{self.name} #{@limits = (@limits || 0) + 1}"
          limits = {requests: to, seconds: within, name: name, failure: failure}
          RateLimit::Count.new(nil, **limits) # says what is wrong
          by, with = [by, with].map { |one| one.is_a?(Proc) ? hidden_method("limit", one) : one }
          counts = {}.compare_by_identity
          before_action(**options) do
            client = by ? __send__(by) : RateLimit::Count.address(env)
            store = settings.rate_limit_store
            (counts[store] ||= RateLimit::Count.new(store, **limits)).add(client.to_s) unless client.nil?
          rescue RateLimit::Exceeded
            raise unless with
            __send__(with)
          end
          nil
        end
      end
    end
  end
end
