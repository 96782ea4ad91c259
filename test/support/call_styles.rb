# frozen_string_literal: true

# The styles in which a program calls a method that may wait: `inside { }` is where it calls, and `ask` returns what the
# method gave.
module CallStyles
  # Inside a reactor, without a block: calls park.
  module Direct
    def inside(&block) = Pelton.run(&block)

    def ask(receiver, name, *arguments, **options) = receiver.public_send(name, *arguments, **options)
  end

  # Where no reactor runs, without a block: calls block.
  module Blocking
    include Direct

    def inside = yield
  end

  # Inside a reactor, with a block.
  module Callback
    def inside(&block) = Pelton.run(&block)

    # Returns the value that the block got, or raises the error that errbacks get.
    def ask(receiver, name, *arguments, **options)
      got = []
      deferrable = receiver.public_send(name, *arguments, **options) { |value| got << value }
      assert_kind_of Pelton::Operation, deferrable
      assert_empty got
      value = deferrable.await
      Pelton::Reactor.current.yield while got.empty?
      assert_equal [value], got
      value
    end
  end
end
