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
          @notifier.publish("#{command}.pelton_memcached", started, Time.now, id, payload)
        end
      end
    end
  end
end
