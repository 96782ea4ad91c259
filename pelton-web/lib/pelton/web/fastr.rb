# frozen_string_literal: true

require_relative "../web"

# The names of Fastr, the event-driven web framework of 2010, for its controllers: `defer_response`, `render(:text => ...)`, filters and
# `params` are those of {Pelton::Web::Controller}.
module Fastr
  # What the block of `defer_response` gets.
  class DeferrableResponse < Pelton::Web::Stream
    # Calls an operation on another thread, for what cannot wait without blocking, and then the callback with its value. An error of either
    # breaks the response off.
    #
    # @asynchronous only where no reactor runs: then the operation has ended before it returns
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

    # As `succeed`.
    def finish = super
  end

  # An action's return value is no answer in Fastr either: it renders or defers.
  class Controller < Pelton::Web::Controller
    class << self
      # Fastr's names of the filters.
      alias_method :before_filter, :before_action
      alias_method :after_filter, :after_action
    end

    # As {Pelton::Web::Controller::Streaming#defer_response}, with a {DeferrableResponse}. The headers may stand without braces.
    def defer_response(status, headers = {}, **more, &block)
      answer_stream(status, headers.merge(more), kind: DeferrableResponse, lifetime: settings.stream_lifetime, deferred: true, &block)
    end
    private :defer_response

    # @return [Hash{String => Object}] of the query
    def get_params = request.query

    # @return [Hash{String => Object}] of the form
    # @asynchronous where the form is still arriving
    def post_params = request.form
  end
end
