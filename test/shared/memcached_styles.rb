# frozen_string_literal: true

require "pelton/memcached"

# The ways to use a client. Each has `within { }`, where the client is used, and `ask(client, :get, "k")`, which returns
# the operation's value or raises its error. A suite that is included beside one of them runs in that style.
module MemcachedStyles
  # Shared by all styles.
  module Common
    def client(address = "127.0.0.1:#{with_memcached}", **options)
      Pelton::Memcached::Client.new(address, timeout: 10 * PeltonTest::SLOW,
        **options).tap { |client| clients << client }
    end

    def clients = @clients ||= []

    def teardown
      clients.each(&:close)
      super
    end

    def ask(client, ...) = client.public_send(...)
  end

  # Without a block, in a reactor: the fiber parks.
  module Direct
    include Common

    def within(&block) = Pelton.run(&block)
  end

  # Without a block, where no reactor runs.
  module Blocking
    include Common

    def within = yield
  end

  # Without a block, in a thread of its own.
  module OtherThread
    include Common

    def within(&block) = Thread.new(&block).tap { |thread| thread.report_on_exception = false }.value
  end

  # Without a block, in a reactor, on a fiber that cannot park.
  module BlockingFiber
    include Common

    def within(&block) = Pelton.run { Fiber.new(blocking: true, &block).resume }
  end

  # With a block, in a reactor.
  module Callback
    include Direct

    def ask(client, command, *arguments, **options)
      settled = Thread::Queue.new
      returned = false
      operation = client.public_send(command, *arguments, **options) { |value| settled << [:value, value, returned] }
      assert_instance_of Pelton::Operation, operation
      operation.errback { |error| settled << [:error, error, returned] }
      returned = true
      kind, result, late = settled.pop
      assert late, "called before the method had returned"
      Pelton::Reactor.current.yield
      assert_empty settled, "called twice"
      (kind == :error) ? raise(result) : result
    end
  end

  # With a block, where no reactor runs: the block runs before the method returns.
  module BlockingCallback
    include Blocking

    def ask(client, command, *arguments, **options)
      values = []
      operation = client.public_send(command, *arguments, **options) { |value| values << value }
      assert_predicate operation, :done?
      errors = []
      operation.errback { |error| errors << error }
      assert_equal [operation.result], values + errors
      errors.each { |error| raise error }
      values.first
    end
  end

  # `later`, in a reactor.
  module Later
    include Direct

    def ask(client, ...) = client.later.public_send(...).await
  end

  # `later`, where no reactor runs.
  module BlockingLater
    include Blocking

    def ask(client, ...)
      operation = client.later.public_send(...)
      assert_predicate operation, :done?
      operation.await
    end
  end

  # Without a block, in one of 100 fibers that use the same client.
  module Concurrent
    include Direct

    def ask(client, ...)
      asked = nil
      tasks = Array.new(100) do |i|
        next asked = Pelton.spawn { super }.errback {} if i == 50
        Pelton.spawn do
          client.set("fiber-#{i}", i.to_s)
          client.get("fiber-#{i}")
        rescue Pelton::ClosedError
          i.to_s # the test closes the client on purpose
        end
      end
      tasks.each_with_index { |task, i| assert_equal i.to_s, task.await unless task.equal?(asked) }
      asked.await
    end
  end

  # Combined with another style: several connections to a server.
  module Pooled
    def client(*arguments, **options) = super(*arguments, connections: 3, **options)
  end

  ALL = constants.map { |name| const_get(name) } - [Common, Pooled]
end
