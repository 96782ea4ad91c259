# frozen_string_literal: true

module Pelton
  module HTTP
    # What a server that stops must close, and wait for, besides its connections: WebSockets, and sockets that other
    # libraries have hijacked. Any thread may attach and detach.
    # @private
    class Attachments
      # @yield when one was attached, or the last one was detached
      def initialize(&changed)
        @all = {}.compare_by_identity
        @changed = changed
      end

      # @return [Attachment]
      def attach(closable)
        attachment = Attachment.new(self, closable)
        @all[attachment] = true
        @changed.call
        attachment
      end

      # @return [Integer]
      def size = @all.size

      def empty? = @all.empty?

      # Closes those that were not closed yet, each in a task of its own.
      def close(code, reason) = @all.keys.each { |attachment| attachment._close(code, reason) }

      # @private
      def delete(attachment) = (@changed.call if @all.delete(attachment) && @all.empty?)
    end

    # Made by {Server#attach}.
    class Attachment
      # @private
      def initialize(attachments, closable)
        @attachments = attachments
        @closable = closable
      end

      # The server need not wait any more. Any thread may call it, more than once.
      #
      # @return [nil]
      def detach
        @attachments.delete(self)
        nil
      end

      # @private
      def _close(code, reason)
        return if @told
        @told = true
        Pelton.spawn(detached: true) { @closable.close(code, reason) }
      end
    end
  end
end
