# app/models/live.rb
# frozen_string_literal: true

# Passes new comments to open pages of this process.
module Live
  # Messages in the queue of a slow reader, beyond which they are dropped.
  LIMIT = 100

  @queues = {}

  class << self
    def publish(topic, html)
      @queues.fetch(topic, []).each { |queue| queue << html if queue.size < LIMIT }
    end

    # Yields new comments until the caller stops.
    def each(topic)
      queue = Thread::Queue.new
      (@queues[topic] ||= []) << queue
      loop { yield queue.pop }
    ensure
      @queues[topic].delete(queue)
      @queues.delete(topic) if @queues[topic].empty?
    end

    def readers(topic) = @queues.fetch(topic, []).size
  end
end
