# frozen_string_literal: true

module Pelton
  module Memcached
    # Work that is done on another thread's reactor, while the caller waits for what comes of it.
    module ServerThread
      class << self
        # A thread with a reactor of its own, which lives as long as what the block has started there. Returns when the
        # block has been called.
        #
        # @return [Thread]
        # @raise whatever the block raises
        def start(&block)
          answer = Queue.new
          thread = Thread.new { Pelton.run { answer << attempt(&block) } }
          thread.name = "pelton memcached"
          thread.report_on_exception = false
          reply(answer)
          thread
        end

        # Calls the block on a reactor that runs, and returns its value.
        #
        # @raise whatever the block raises
        def call(reactor, &block)
          return yield if Reactor.running? && reactor.equal?(Reactor.current)
          answer = Queue.new
          reactor.next_tick { answer << attempt(&block) }
          reply(answer)
        end

        private

        def attempt
          [yield, nil]
        rescue => error
          [nil, error]
        end

        def reply(answer)
          value, error = answer.pop
          raise error if error
          value
        end
      end
    end
  end
end
