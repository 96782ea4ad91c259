# frozen_string_literal: true

module Pelton
  module Web
    class Controller
      # `rate_limit`: limits how often a client may call an action.
      #
      #     rate_limit to: 10, within: 180, only: :create
      #     rate_limit to: 20, within: 3600, only: :create, by: -> { params[:email] }, with: -> { redirect_to "/later" }
      module RateLimiting
        @lock = Mutex.new
        @unnamed = 0

        # A name for a class without one. Workers that load the same program get the same names.
        #
        # @private
        def self._next_name = @lock.synchronize { "class #{@unnamed += 1}" }

        # Responds with 429 beyond the limit. Requests are counted in `settings.rate_limit_store`, before the action. An
        # action may have several limits.
        #
        # @param to [Integer] requests
        # @param within [Integer] seconds from the client's first request
        # @param by [Proc, Symbol, nil] returns, in the controller, what to count by; nil: do not count the request. By
        #   default the client's address
        # @param with [Proc, Symbol, nil] responds instead
        # @param failure [Symbol] if memcached fails, :pass lets requests through and logs it, :refuse responds with 503
        # @param name [String, nil] limits with the same name count together; by default each class counts separately
        # @param options [Hash] only:, except:, if: and unless:, as for before_action
        # @return [nil]
        # @raise [ConfigurationError] if an option is wrong
        def rate_limit(to:, within:, by: nil, with: nil, failure: :pass, name: nil, **options)
          name ||= "#{self.name || RateLimiting._next_name} #{@limits = (@limits || 0) + 1}"
          limits = {requests: to, seconds: within, name: name, failure: failure}
          RateLimit::Count.new(nil, **limits) # raises if an option is wrong
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
        end
      end
    end
  end
end
