# frozen_string_literal: true

module Pelton
  module Web
    # Messages for the next page, such as the one behind a redirect. They are in the session until a page asks for the flash.
    #
    #     flash[:notice] = "Saved."        # for the next page
    #     flash.now[:alert] = "Try again." # for this page
    #     flash.keep                       # what this page got is for the next one, too
    class Flash
      include Opaque

      include Enumerable

      KEY = "flash"
      private_constant :KEY

      def initialize(session)
        @session = session
        messages = session[KEY]
        @now = messages.is_a?(Hash) ? messages.dup : {}
        @next = {}
      end

      # @return [Object, nil] a message for this page
      def [](name) = @now[name.to_s]

      # Leaves a message for the next page, and for this one.
      def []=(name, message)
        @now[name.to_s] = @next[name.to_s] = message
      end

      # @return [Now] takes messages for this page alone
      def now = Now.new(@now)

      # Keeps messages of this page for the next one.
      #
      # @param names [Array<Symbol>] none: all
      def keep(*names)
        @next.update(names.empty? ? @now : @now.slice(*names.map(&:to_s)))
        nil
      end

      def discard(*names)
        names.empty? ? @next.clear : names.each { |name| @next.delete(name.to_s) }
        nil
      end

      def key?(name) = @now.key?(name.to_s)

      # @return [Boolean] whether this page has messages
      def empty? = @now.empty?

      # @yieldparam name [String]
      # @yieldparam message [Object]
      def each(&block) = @now.each(&block)

      # @return [Object, nil] the message `notice`
      def notice = self[:notice]

      # @return [Object, nil] the message `alert`
      def alert = self[:alert]

      # Writes what the next page gets into the session.
      # @private
      def commit
        if @next.any?
          @session[KEY] = @next
        elsif @session.key?(KEY)
          @session.delete(KEY)
        end
      end

      # Takes messages for this page alone.
      class Now
        include Opaque

        # @private
        def initialize(messages) = @messages = messages

        def [](name) = @messages[name.to_s]

        def []=(name, message)
          @messages[name.to_s] = message
        end
      end
    end
  end
end
