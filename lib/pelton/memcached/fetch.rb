# frozen_string_literal: true

module Pelton
  module Memcached
    # Values that one caller computes when they are missing, however many callers ask.
    module Fetch
      # The suffix of the key that tells other processes that the value is being computed.
      LOCK_SUFFIX = ".computing"

      # Gets the value, or computes and stores it when it is absent.
      #
      # Of all callers that miss the value, one runs the block. The other fibers of its thread get its value, or its
      # error. Other threads, processes and machines find a second key, `#{key}.computing`. They poll for the value for
      # `wait:` seconds, and then compute it themselves. A failing server makes no difference to the caller: a value
      # that cannot be read is computed, and a value that cannot be stored is returned all the same.
      #
      # nil is not stored, so it is computed each time.
      #
      # @param key [String, Symbol] at most 240 bytes, the namespace included: ten fewer than other keys
      # @param ttl [Numeric, nil] seconds for which the value is fresh
      # @param stale [Integer] seconds for which a value that is no longer fresh is kept: the first caller computes it
      #   anew, and the others get the old value until it has done so. The new value is not stored if another one was
      #   set meanwhile, or the old one was deleted or has expired
      # @param wait [Numeric] seconds that the computation may take before other callers compute as well
      # @param flags [Integer, nil] see {Client#set}
      # @param timeout [Numeric, nil] seconds for each command that fetch sends, not for the block
      # @return the value
      # @raise the block's error
      # @raise [ArgumentError] `stale:` without `ttl:`
      # @asynchronous
      # @yieldreturn the value
      def fetch(key, ttl: nil, stale: 0, wait: 5, flags: nil, timeout: nil, &compute)
        raise ArgumentError, "fetch needs a block" unless compute
        Fetching.new(self, key, compute, ttl, stale, wait, {flags: flags, timeout: timeout}.compact).value
      end
    end

    # The state of one fetch.
    #
    # @private
    class Fetching
      # Seconds between two polls for a value that somebody else computes: the first pause, and the longest.
      FIRST_PAUSE = 0.005
      LONGEST_PAUSE = 0.1
      FAILURES = [ConnectionError, TimeoutError, ServerError].freeze # of a server

      def initialize(client, key, compute, ttl, stale, wait, options)
        raise ArgumentError, "stale: counts from the end of ttl:, which is not given" if stale > 0 && !ttl
        @client = client
        @key = key.is_a?(Symbol) ? key.name : key
        @compute = compute
        @ttl = ttl && ttl + stale
        @stale = stale
        @wait = wait
        @options = options
      end

      def value
        item = look
        return item.value if item && !item.won
        once_per_thread { item ? store(@compute.call, item.cas) : lock_and_compute }
      end

      private

      # nil when the value is absent, or its server fails.
      def look
        return @client.item(@key, recache: @stale, **@options.slice(:timeout)) if @stale > 0
        value = @client.get(@key, **@options.slice(:timeout))
        Item.new(value, 0, 0, 0) unless value.nil?
      rescue *FAILURES, ValueError
        nil
      end

      # One of this thread's fibers runs the block, the others get its result.
      def once_per_thread
        id = [Process.pid, @client.__id__, @key]
        other, owner = computing[id]
        return yield if owner == Fiber.current # the block fetches the key that it computes
        return other.await if other
        operation = Operation.new
        computing[id] = [operation, Fiber.current]
        value = yield
        operation.succeed(value)
        value
      ensure
        if operation
          # Two may have begun while a trap handler waited
          computing.delete(id) if computing[id]&.first.equal?(operation)
          give_up(operation) unless operation.done?
        end
      end

      # The computations that this thread's fibers are running.
      def computing
        thread = Thread.current
        thread.thread_variable_get(:pelton_computing) || thread.thread_variable_set(:pelton_computing, {})
      end

      def give_up(operation)
        error = $!.is_a?(StandardError) ? $! : ClosedError.new("the fiber that computed the value was stopped")
        operation.errback {} # without a waiter, the error must not count as unhandled
        operation.fail(error)
      end

      def lock_and_compute = lock ? compute_locked : wait_for_another

      # The previous owner of the lock may have stored the value after this caller missed it.
      def compute_locked
        item = look
        (item && !item.won) ? item.value : store(@compute.call)
      ensure
        unlock
      end

      # Whether this caller should compute. memcached counts whole seconds: an item with the ttl n lives for n - 1 to n.
      # It should if the server cannot tell.
      def lock
        @client.add(@key + Fetch::LOCK_SUFFIX, "", ttl: @wait + 1, raw: true)
      rescue *FAILURES
        true
      end

      def unlock
        @client.delete(@key + Fetch::LOCK_SUFFIX)
      rescue *FAILURES
        nil # the lock expires
      end

      def wait_for_another
        pause = FIRST_PAUSE
        deadline = Clock.now + @wait
        while Clock.left(deadline) > 0
          sleep pause
          item = look
          return item.value if item
          return compute_locked if lock
          pause = [pause * 2, LONGEST_PAUSE].min
        end
        store(@compute.call)
      end

      # cas: of the stale value; a value that was set or deleted while the block ran stays so.
      def store(value, cas = 0)
        options = (cas > 0) ? {cas: cas, **@options} : @options
        @client.set(@key, value, ttl: @ttl, **options) unless value.nil?
        value
      rescue *FAILURES
        value
      end
    end
  end
end
