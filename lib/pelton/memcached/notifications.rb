# frozen_string_literal: true

module Pelton
  module Memcached
    # Tells ActiveSupport::Notifications, or what has its `publish`, of each command of a client:
    #
    #     require "pelton/memcached/notifications"
    #     cache = Pelton::Memcached::Client.new(servers, instrument: Pelton::Memcached::Notifications.new)
    #     ActiveSupport::Notifications.subscribe(/\.pelton_memcached\z/) { |name, start, finish, id, payload| ... }
    #
    # The events' names are "get.pelton_memcached" and the like. The payload has `:key`; `:hit` for what reads; and
    # `:exception` and `:exception_object`, as ActiveSupport has them, when the command failed.
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

      # Subscribers get `time` and `end` as start and finish, which are Times.
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

      # A subscriber's block with one argument gets events alone.
      def publish(*event)
        @event ? @notifier.publish_event(@event.new(*event)) : @notifier.publish(*event)
      end
    end
  end
end
