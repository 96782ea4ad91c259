# frozen_string_literal: true

module Pelton
  module Memcached
    # Publishes each command of a client to ActiveSupport::Notifications, or to another object with its `publish`:
    #
    #     require "pelton/memcached/notifications"
    #     cache = Pelton::Memcached::Client.new(servers, instrument: Pelton::Memcached::Notifications.new)
    #     ActiveSupport::Notifications.subscribe(/\.pelton_memcached\z/) { |name, start, finish, id, payload| ... }
    #
    # The events are named "get.pelton_memcached" and so on. The payload has `:key`, for reading commands `:hit`, and for
    # commands that failed `:exception` and `:exception_object`, as in ActiveSupport.
    class Notifications
      READING = %i[get gets gat item].freeze
      private_constant :READING

      def initialize(notifier = ActiveSupport::Notifications)
        @notifier = notifier
        @event = event_with_times(notifier::Event) if notifier.respond_to?(:publish_event)
        @id = 0
      end

      # (see Client#initialize)
      def call(command, key)
        started = Time.now
        id = "pelton-#{@id += 1}"
        lambda do |value, error|
          payload = {key: key}
          payload[:hit] = !value.nil? if READING.include?(command) && !error
          payload.update(exception: [error.class.name, error.message], exception_object: error) if error
          publish("#{command}.pelton_memcached", started, Time.now, id, payload)
        end
      end

      private

      # Makes a subclass of ActiveSupport's event whose `time` and `end`, the subscribers' start and finish, are Times.
      def event_with_times(event)
        Class.new(event) do
          def initialize(name, started, finished, *)
            super
            @time_of_start, @time_of_end = started, finished
          end

          def time = @time_of_start
          def end = @time_of_end
        end
      end

      # A subscriber whose block has one argument gets an event only by publish_event.
      def publish(*event)
        @event ? @notifier.publish_event(@event.new(*event)) : @notifier.publish(*event)
      end
    end
  end
end
