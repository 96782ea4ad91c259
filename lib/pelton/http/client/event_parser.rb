# frozen_string_literal: true

module Pelton
  module HTTP
    # An event of a server: its `type`, "message" unless the server says otherwise; its `data`, of one line or several;
    # the `id` that the server gave last, "" if none.
    class Event < Struct.new(:type, :data, :id)
    end

    # Reads server-sent events from the pieces of a response's body, however they are cut
    # (https://html.spec.whatwg.org/multipage/server-sent-events.html).
    # @private
    class EventParser
      # The ends of lines. A "\r" at the end of a piece may be half of one.
      LINE_END = /\r\n|\n|\r(?!\z)/n
      BYTE_ORDER_MARK = "\xEF\xBB\xBF".b.freeze
      private_constant :LINE_END, :BYTE_ORDER_MARK

      # @return [String] the id that the server gave last
      attr_reader :last_id

      # @return [Float, nil] seconds after which the server wants its client back
      attr_reader :retry_after

      # @param limit [Integer] bytes of an event
      def initialize(limit:, last_id: "")
        @limit = limit
        @last_id = last_id
        @pending = +"".b
        @searched = 0 # bytes of @pending that have no line end
        @begun = false
        clear
      end

      # @yieldparam event [Event]
      # @raise [LimitError]
      def feed(piece)
        @pending << piece
        skip_mark or return
        start = 0
        while (ends = @pending.match(LINE_END, [@searched, start].max))
          line = @pending.byteslice(start, ends.begin(0) - start)
          start = ends.end(0)
          line.empty? ? dispatch { |event| yield event } : field(line)
        end
        @pending = @pending.byteslice(start..) if start.positive?
        @searched = [@pending.bytesize - 1, 0].max
        refuse if @size + @pending.bytesize > @limit
      end

      private

      # @return [Boolean] whether enough is there to say that there is none
      def skip_mark
        return true if @begun
        return false if @pending.bytesize < 3 && BYTE_ORDER_MARK.start_with?(@pending)
        @begun = true
        @pending = @pending.byteslice(3..) if @pending.start_with?(BYTE_ORDER_MARK)
        true
      end

      def clear
        @type = nil
        @data = nil
        @size = 0
      end

      def field(line)
        @size += line.bytesize
        refuse if @size > @limit
        name, value = line.split(":", 2)
        value = text(value.to_s.delete_prefix(" "))
        case name
        when "data" then (@data ||= []) << value
        when "event" then @type = value
        when "id" then @last_id = value unless value.include?("\0")
        # more digits are no time at all
        when "retry" then @retry_after = value[0, 15].to_i / 1000.0 if value.match?(/\A\d+\z/)
        end
      end

      def dispatch
        event = @data && Event.new((@type.nil? || @type.empty?) ? "message" : @type, @data.join("\n"), @last_id)
        clear
        yield event if event
      end

      def text(bytes) = bytes.force_encoding(Encoding::UTF_8).scrub("\uFFFD")

      def refuse = raise(LimitError, "an event is larger than #{@limit} bytes: raise max_event:")
    end
  end
end
