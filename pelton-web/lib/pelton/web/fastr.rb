# frozen_string_literal: true

require_relative "../web"

# Names of Fastr, an event-driven web framework of 2010, for its controllers: `defer_response`, `render(:text => ...)`,
# filters and `params` come from {Pelton::Web::Controller}.
module Fastr
  # Yielded by `defer_response`.
  class DeferrableResponse < Pelton::Web::Stream
    # Runs an operation on another thread, for calls that would block, and then calls the callback with its value. An
    # error of either aborts the response.
    #
    # @asynchronous only outside a reactor, where it returns after the operation
    def task(operation, callback = nil)
      return callback&.call(operation.call) unless Pelton.running?
      task = Pelton.spawn(name: "task of a deferred response", detached: true) do
        value = Pelton.offload { operation.call }
        callback&.call(value)
      rescue => error
        fail(error)
      end
      closed { task.cancel }
      nil
    end

    # Same as `succeed`.
    def finish = super
  end

  # As in Fastr, an action's return value is not sent: the action renders or defers.
  class Controller < Pelton::Web::Controller
    class << self
      # Fastr's names for filters.
      alias_method :before_filter, :before_action
      alias_method :after_filter, :after_action
    end

    # Like {Pelton::Web::Controller::Streaming#defer_response}, with a {DeferrableResponse}. The headers need no braces.
    def defer_response(status, headers = {}, **more, &block)
      answer_stream(status, headers.merge(more), kind: DeferrableResponse, lifetime: settings.stream_lifetime,
        deferred: true, &block)
    end
    private :defer_response

    # @return [Hash{String => Object}] the query's parameters
    def get_params = request.query

    # @return [Hash{String => Object}] the form's fields
    # @asynchronous while the form is still arriving
    def post_params = request.form
  end
end
