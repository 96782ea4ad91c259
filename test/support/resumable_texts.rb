# frozen_string_literal: true

require "pelton/resumable_stream"

# A stream with a store that has faults, and readers.
module ResumableTexts
  # A store that can be slow, be away, and tells how often it was called.
  class Store < Pelton::ResumableStream::Memory
    attr_accessor :delay, :away, :gone
    attr_reader :reads, :writes

    def read
      @reads = @reads.to_i + 1
      trouble
      super
    end

    def write(...)
      @writes = @writes.to_i + 1
      trouble
      !gone && super
    end

    # Without the times: as if a process had died.
    def age(seconds) = @values = @values.merge(alive_at: Time.now - seconds)

    private

    def trouble
      raise "the database is away" if away
      sleep delay if delay
    end
  end

  def setup
    @store = Store.new
    @pubsub = Pelton::PubSub.new
  end

  # As another process has it: another object with the same name.
  def stream(pubsub = @pubsub) = Pelton::ResumableStream.new("one", @store, pubsub: pubsub)

  # A reader in a task: what it was told, in short.
  def reader(after: nil, pubsub: @pubsub, every: 15, pause: nil)
    events = []
    task = Pelton.spawn do
      stream(pubsub).follow(after: after, every: every) do |event|
        events << event
        sleep pause if pause
      end
    end
    events.define_singleton_method(:task) { task }
    events.define_singleton_method(:text) { compact.map(&:text).join }
    events.define_singleton_method(:types) do
      compact.map(&:type).chunk_while { |one, other| one == other }.map(&:first)
    end
    events
  end

  def await_text(events, text)
    eventually("the text #{text.inspect}, not #{events.text.inspect}") { events.text == text }
  end
end
