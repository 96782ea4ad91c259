# frozen_string_literal: true

module Pelton
  module Memcached
    # Runs blocks on another thread's reactor, while the caller waits for the result.
    module ServerThread
      class << self
        # Starts a thread with a reactor, calls the block there, and returns when the block has returned. The thread
        # lives as long as the things that the block has started.
        #
        # @return [Thread]
        # @raise the block's error
        def start(&block)
          answer = Queue.new
          thread = Thread.new { Pelton.run { answer << attempt(&block) } }
          thread.name = "pelton memcached"
          thread.report_on_exception = false
          result(answer)
          thread
        end

        # Calls the block on a running reactor, and returns its value.
        #
        # @raise the block's error
        def call(reactor, &block)
          return yield if Reactor.running? && reactor.equal?(Reactor.current)
          answer = Queue.new
          reactor.next_tick { answer << attempt(&block) }
          result(answer)
        end

        private

        def attempt
          [yield, nil]
        rescue => error
          [nil, error]
        end

        def result(answer)
          value, error = answer.pop
          raise error if error
          value
        end
      end
    end
  end
end
