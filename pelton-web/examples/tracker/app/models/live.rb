# app/models/live.rb
# frozen_string_literal: true

# What is new on a page, for those who have it open in this process.
module Live
  # What waits for somebody who reads slowly. More is left out.
  LIMIT = 100

  @queues = {}

  class << self
    def publish(topic, html)
      @queues.fetch(topic, []).each { |queue| queue << html if queue.size < LIMIT }
    end

    # Yields what is new, for as long as the caller likes.
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
