# frozen_string_literal: true

module Pelton
  module Web
    # Messages for the next page, such as after a redirect. They stay in the session until a page reads the flash.
    #
    #     flash[:notice] = "Saved."        # for the next page
    #     flash.now[:alert] = "Try again." # for this page
    # passes this page's messages on to the next one
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

      # Sets a message for this page and the next.
      def []=(name, message)
        @now[name.to_s] = @next[name.to_s] = message
      end

      # @return [Now] for messages of this page only
      def now = Now.new(@now)

      # Passes messages of this page on to the next one.
      #
      # @param names [Array<Symbol>] by default all
      def keep(*names)
        @next.update(names.empty? ? @now : @now.slice(*names.map(&:to_s)))
        nil
      end

      # Drops messages for the next page; without names all of them.
      #
      # @param names [Array<String, Symbol>]
      # @return [nil]
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

      # @return [String, nil] the message `notice` for this page
      def notice = self[:notice]

      # @return [String, nil] the message `alert` for this page
      def alert = self[:alert]

      # Writes messages for the next page into the session.
      # @private
      def commit
        if @next.any?
          @session[KEY] = @next
        elsif @session.key?(KEY)
          @session.delete(KEY)
        end
      end

      # Sets messages for this page only.
      class Now
        include Opaque

        # @private
        def initialize(messages) = @messages = messages

        # @param name [String, Symbol]
        # @return [Object, nil]
        def [](name) = @messages[name.to_s]

        # @param name [String, Symbol]
        # @param message [Object] a JSON value
        def []=(name, message)
          @messages[name.to_s] = message
        end
      end
    end
  end
end
