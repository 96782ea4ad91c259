# frozen_string_literal: true

module Pelton
  class PubSub
    # What a {Hub} and its links send each other: frames of a length, a kind and a body. Each side closes a connection
    # on which it reads anything else.
    #
    # | kind | from | body |
    # |---|---|---|
    # | JOIN | link | epoch and serial of the last message that it has got |
    # | PUBLISH | link | a message: flags, rule, topic, text |
    # | WELCOME | hub | its epoch |
    # | KEPT | hub | serial, offset, age and a message, for the history alone |
    # | MESSAGE | hub | the same, to be delivered |
    # | READY | hub | nothing: all that was kept was sent |
    # @private
    module Wire
      JOIN, PUBLISH, WELCOME, KEPT, MESSAGE, READY = *1..6
      # Bytes of a frame: of the longest message with the longest topic.
      MOST = (16 << 20) + 2048
      # Length and kind.
      HEAD = 5
      # Of a message: whether it is text, bytes of the topic, the messages that are kept (0: none, and it has no number)
      # and their seconds.
      RULE = "CS>L>G"
      RULE_SIZE = 15
      # Bytes of what is read and written at once; a longer frame is neither copied nor cut for that.
      LONG = 65_536
      MOST_READ = 262_144
      # Serial, offset and age in seconds, before a message.
      NUMBERS = "Q>Q>g"
      NUMBERS_SIZE = 20
      private_constant :RULE, :RULE_SIZE, :MOST_READ

      # The peer sent what no peer of this version sends.
      class Malformed < Error
      end

      # A message of a frame. `offset` is 0 where the topic keeps none.
      Message = Struct.new(:topic, :text, :rule, :serial, :offset, :age)

      # Cuts received bytes into frames.
      class Reader
        def initialize
          @buffer = "".b
          @at = 0
        end

        # A long frame comes in hundreds of pieces: each byte is copied once.
        def <<(bytes)
          if @at.positive?
            @buffer = @buffer.byteslice(@at..)
            @at = 0
          end
          reserve if !@reserved && missing > LONG
          @buffer << bytes
        end

        # @return [Integer] bytes that the frame which has begun needs
        def missing
          return 0 if @buffer.bytesize - @at < HEAD
          [@buffer.unpack1("L>", offset: @at) + HEAD - @buffer.bytesize + @at, 0].max
        end

        # @return [Integer] how much to read at once
        def wanted = missing.clamp(LONG, MOST_READ)

        # @return [Array(Integer, String), nil] kind and body; nil: more bytes are needed
        # @raise [Malformed]
        def next
          return if @buffer.bytesize - @at < HEAD
          length, kind = @buffer.unpack("L>C", offset: @at)
          if length > MOST || !kind.between?(JOIN, READY)
            raise Malformed, "a frame of #{length} bytes, of the kind #{kind}"
          end
          return if @buffer.bytesize - @at - HEAD < length
          body = @buffer.byteslice(@at + HEAD, length)
          @at += HEAD + length
          @reserved = false
          [kind, body]
        end

        private

        def reserve
          @buffer = String.new(capacity: @buffer.bytesize + missing, encoding: Encoding::BINARY) << @buffer
          @reserved = true
        end
      end

      class << self
        # @return [String]
        def frame(kind, *parts) = [parts.sum(&:bytesize), kind].pack("L>C").concat(*parts).freeze

        # @param rule [History::Rule, nil]
        # @return [Array<String>] a frame in parts, of which the last is the text
        def publish(topic, message, rule)
          head = rule_and_topic(topic, message, rule)
          [[head.bytesize + message.bytesize, PUBLISH].pack("L>C") << head, message]
        end

        # @return [String] a message with all that goes along with it
        def body(topic, message, rule) = rule_and_topic(topic, message, rule) << message.b

        # @param body [String] as {#body} has made it
        # @return [Message] without numbers
        # @raise [Malformed]
        def published(body)
          body.force_encoding(Encoding::BINARY)
          Message.new(*parse_publish(body, 0))
        end

        # @param body [String] of a frame PUBLISH
        # @param age [Numeric] seconds since it was published
        # @return [Array<String>] a frame in parts, of which the last is the body: the same for all who get it
        def message(kind, serial, offset, body, age: 0)
          [[NUMBERS_SIZE + body.bytesize, kind, serial, offset, age].pack("L>C#{NUMBERS}"), body]
        end

        # Joins short parts, for fewer calls; a long one is not copied.
        #
        # @param parts [Array<String>]
        # @return [Array<String>]
        def gather(parts)
          runs = parts.slice_when { |before, after| [before, after].any? { |part| part.bytesize >= LONG } }
          runs.map { |run| (run.size == 1) ? run.first : run.map(&:b).join }
        end

        def join(epoch, serial) = frame(JOIN, [serial].pack("Q>"), epoch.to_s.b)

        # @return [Array(String, Integer)] epoch and serial
        def joined(body) = [body.byteslice(8..).to_s, body.unpack1("Q>").to_i]

        # @param body [String] of a frame KEPT or MESSAGE
        # @raise [Malformed]
        def parse(body)
          serial, offset, age = body.unpack(NUMBERS)
          topic, text, rule = parse_publish(body, NUMBERS_SIZE)
          Message.new(topic, text, rule, serial, offset, age)
        end

        # @return [Array(String, Rule)] topic and rule of a frame PUBLISH, which the hub needs
        # @raise [Malformed]
        def topic_and_rule(body)
          _, length, messages, seconds = head(body, 0)
          [body.byteslice(RULE_SIZE, length).force_encoding(Encoding::UTF_8),
            (History::Rule.new(messages, seconds) if messages.positive?)]
        end

        private

        def rule_and_topic(topic, message, rule)
          text = (message.encoding == Encoding::BINARY) ? 0 : 1
          [text, topic.bytesize, rule ? rule.messages : 0, rule ? rule.seconds : 0].pack(RULE) << topic.b
        end

        def parse_publish(body, at)
          text, length, messages, seconds = head(body, at)
          message = body.byteslice(at + RULE_SIZE + length..)
          message.force_encoding(Encoding::UTF_8) if text == 1
          [body.byteslice(at + RULE_SIZE, length).force_encoding(Encoding::UTF_8), message.freeze,
            (History::Rule.new(messages, seconds) if messages.positive?)]
        end

        def head(body, at)
          raise Malformed, "a message of #{body.bytesize} bytes" if body.bytesize < at + RULE_SIZE
          body.unpack(RULE, offset: at).tap do |facts|
            raise Malformed, "a topic of #{facts[1]} bytes" if body.bytesize < at + RULE_SIZE + facts[1]
          end
        end
      end
    end
  end
end
