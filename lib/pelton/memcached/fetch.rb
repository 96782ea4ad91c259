# frozen_string_literal: true

module Pelton
  module Memcached
    # Values that are computed when they are missing: by one caller, however many ask.
    module Fetch
      # A key under which who computes says so to other processes.
      LOCK_SUFFIX = ".computing"

      # Gets the value, or computes and stores it when it is absent.
      #
      # Of all that miss it, one runs the block. The other fibers of its thread get its value, or its error. Other threads,
      # processes and machines see by a second key, `#{key}.computing`, that somebody computes; they look for the value
      # again and again for `wait:` seconds, and then compute by themselves. If the servers fail, the block is the answer:
      # what cannot be read is computed, and what cannot be stored is returned all the same.
      #
      # nil is not stored, and so computed each time.
      #
      # @param key [String, Symbol] ten bytes shorter than other keys may be
      # @param ttl [Numeric, nil] seconds for which the value is fresh
      # @param stale [Integer] seconds more for which it is kept: the first to ask then computes it anew, and all others
      #   take the old one until that is done
      # @param wait [Numeric] seconds that the computation may take, before others try for themselves
      # @param flags [Integer, nil]
      # @param timeout [Numeric, nil] seconds for each of the commands that it needs, not of the block
      # @return the value
      # @raise what the block raises
      # @asynchronous
      # @yieldreturn the value
      def fetch(key, ttl: nil, stale: 0, wait: 5, flags: nil, timeout: nil, &compute)
        raise ArgumentError, "fetch needs a block" unless compute
        Fetching.new(self, key, compute, ttl, stale, wait, {flags: flags, timeout: timeout}.compact).value
      end
    end

    # One fetch.
    #
    # @private
    class Fetching
      # Seconds between two looks for a value that somebody else computes: at first, and at most.
      FIRST_LOOK = 0.005
      LAST_LOOK = 0.1

      def initialize(client, key, compute, ttl, stale, wait, options)
        raise ArgumentError, "stale: is a number of seconds after ttl:, which is not given" if stale > 0 && !ttl
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
        together { item ? store(@compute.call) : lock_and_compute }
      end

      private

      # nil when it is absent. Servers that fail have nothing.
      def look
        return @client.item(@key, recache: @stale, **@options.slice(:timeout)) if @stale > 0
        value = @client.get(@key, **@options.slice(:timeout))
        Item.new(value, 0, 0, 0) unless value.nil?
      rescue ConnectionError, ServerError, ValueError
        nil
      end

      # The fibers of a thread: one does it, the others get what it got.
      def together
        place = [Process.pid, @client.__id__, @key]
        other, owner = computing[place]
        return yield if owner == Fiber.current # its block asks for what it computes
        return other.await if other
        operation = Operation.new
        computing[place] = [operation, Fiber.current]
        value = yield
        operation.succeed(value)
        value
      ensure
        if operation
          computing.delete(place)
          give_up(operation) unless operation.done?
        end
      end

      # By this thread's fibers, now.
      def computing
        thread = Thread.current
        thread.thread_variable_get(:pelton_computing) || thread.thread_variable_set(:pelton_computing, {})
      end

      def give_up(operation)
        error = $!.is_a?(StandardError) ? $! : ClosedError.new("whoever computed the value was stopped")
        operation.errback {} # nobody may have waited
        operation.fail(error)
      end

      def lock_and_compute
        lock ? compute_locked : wait_for_another
      end

      # Whoever had the lock before may have stored the value after this one had missed it.
      def compute_locked
        item = look
        (item && !item.won) ? item.value : store(@compute.call)
      ensure
        unlock
      end

      # Whether this process is the one. It is, where nobody can tell.
      def lock
        @client.add(@key + Fetch::LOCK_SUFFIX, "", ttl: @wait, raw: true)
      rescue ConnectionError, ServerError
        true
      end

      def unlock
        @client.delete(@key + Fetch::LOCK_SUFFIX)
      rescue ConnectionError, ServerError
        nil # it ends by itself
      end

      def wait_for_another
        pause = FIRST_LOOK
        deadline = Clock.now + @wait
        while Clock.left(deadline) > 0
          sleep pause
          item = look
          return item.value if item
          return compute_locked if lock
          pause = [pause * 2, LAST_LOOK].min
        end
        store(@compute.call)
      end

      def store(value)
        @client.set(@key, value, ttl: @ttl, **@options) unless value.nil?
        value
      rescue ConnectionError, ServerError
        value
      end
    end
  end
end
