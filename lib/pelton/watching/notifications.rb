# frozen_string_literal: true

module Pelton
  # Events of Pelton and of its gems, by name, for logs, metrics and traces. An event without subscribers costs
  # nothing.
  #
  #     Pelton::Notifications.subscribe("request.http_client") do |event|
  #       puts "#{event.payload[:request]}: #{event.duration}"
  #     end
  #
  # | event | payload |
  # |---|---|
  # | `command.memcached` | `command`, `key`; for commands that read, `hit` |
  # | `query.sequel` | `sql`, without the values that were bound; `database`, with Sequel's pelton_statistics |
  # | `request.http_client` | `request`, `response`; each redirect is a request |
  # | `request.http_server` | `env`, `status`, `headers`, `bytes`, `server`; it starts where the application is called |
  # | `refusal.http_server` | `address`, `status`, `reason`, `server`: a client sent no request (status nil: TLS failed) |
  # | `publish.pubsub` | `topic`, `bytes` |
  # | `overflow.pubsub` | `topic`, `subscription`: of a subscriber that is too slow |
  # | `run.task` | `task`; the duration includes its waits |
  # | `connect.stream` | `host` and `port`, or `path` |
  #
  # An error of a subscriber goes to {Pelton.on_error}, and the operation goes on.
  module Notifications
    # What happened.
    class Event
      include Opaque

      # @return [String]
      attr_reader :name
      # @return [Hash{Symbol => Object}]
      attr_reader :payload
      # @return [Float, nil] seconds; nil until the end
      attr_reader :duration
      # @return [Exception, nil] the error that the operation has ended with
      attr_reader :error

      # @private
      def initialize(name, payload, subscribers)
        @name = name
        @payload = payload
        @subscribers = subscribers
      end

      # @return [Time] its beginning
      def time = @time ||= Time.now - (Clock.now - @began)

      # @private
      def start
        @began = Clock.now
        @subscribers.each { |one| notify { one.start(self) } if one.respond_to?(:start) }
        self
      end

      # @private
      def finish(error = nil, duration = Clock.now - @began, also: nil)
        @error = error
        @duration = duration
        @began ||= Clock.now - duration
        [*@subscribers, *also].each { |one| notify { one.respond_to?(:finish) ? one.finish(self) : one.call(self) } }
      end

      private

      # In the next tick, as a block of {Pelton.on_error} may raise.
      def notify
        yield
      rescue StandardError, ScriptError => error
        if Pelton.running?
          Pelton.next_tick { Pelton.report_error(error, "a subscriber of #{@name}") }
        else
          Pelton.logger.error(error.full_message(highlight: false))
        end
      end
    end

    @subscriptions = []
    @by_name = {}
    # That C looks at
    @switches = {"run.task" => :task, "request.http_server" => :request, "command.memcached" => :command}
    @mutex = Mutex.new

    class << self
      # @param name [String, Regexp] of the events
      # @param subscriber [#call, #finish] is called with each {Event} at its end; one with `start` also at its
      #   beginning
      # @return [Object] for {unsubscribe}
      # @raise [ArgumentError] without a subscriber
      def subscribe(name, subscriber = nil, &block)
        subscriber ||= block or raise ArgumentError, "subscribe needs a block, or an object with call or finish"
        [name, subscriber].tap { |subscription| change { @subscriptions += [subscription] } }
      end

      # @param subscription [Object] what {subscribe} has returned
      # @return [void]
      def unsubscribe(subscription)
        change { @subscriptions = @subscriptions.reject { |one| one.equal?(subscription) } }
        nil
      end

      # Runs the block as an event: programs and gems may have events of their own.
      #
      # @param name [String]
      # @param payload [Hash{Symbol => Object}] the block may add to it
      # @return the block's value
      def instrument(name, payload = {})
        event = start(name) { payload } or return yield
        begin
          yield
        rescue Exception => error # standard:disable Lint/RescueException -- raised again
          raise
        ensure
          event.finish(error)
        end
      end

      # @yieldreturn [Hash{Symbol => Object}] the payload
      # @return [Event, nil] nil: there are no subscribers. Otherwise its `finish` must be called
      # @private
      def start(name)
        subscribers = @by_name[name] || self.for(name)
        Event.new(name, yield, subscribers).start unless subscribers.empty?
      end

      # @return [Array] the subscribers of an event
      # @private
      def for(name)
        @by_name[name] ||= @subscriptions.filter_map { |pattern, subscriber| subscriber if pattern === name }
      end

      private

      def change
        @mutex.synchronize do
          yield
          @by_name = {}
          @switches.each { |name, event| Pelton._observe(event, self.for(name).any?) }
        end
      end

      def observe_task(block) = instrument("run.task", task: Task.current, &block)
    end

    Pelton.register_upcalls(observe_task: method(:observe_task))
  end
end
