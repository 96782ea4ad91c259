# frozen_string_literal: true

require_relative "deflation"
require_relative "entity_tag"

module Pelton
  module HTTP
    # A part of pages that is used more than once: its text, and the same text deflated. A {Page} that is sent with gzip
    # splices the deflated texts of its fragments, and compresses only what lies between. A fragment refers to nothing
    # outside of itself, so it fits into any page, and its size tells nothing about the texts around it.
    #
    # A fragment is frozen.
    #
    # @!method text
    #   @return [String] frozen
    # @!method deflated
    #   @return [String] blocks of deflate (RFC 1951) that end on a byte boundary; frozen
    # @!method digest
    #   @return [String] the first 16 bytes of the text's SHA-256. Pages make their entity tags from it
    class Fragment
      VERSION = "F1".b.freeze
      HEADER = "a2a16NN" # the version, the digest, the length of the text, and of the deflated text
      HEADER_LENGTH = 26
      private_constant :VERSION, :HEADER, :HEADER_LENGTH

      class << self
        # Compresses the text.
        #
        # @param text [String]
        # @param level [Integer] 1 (fast) to 9 (small). A fragment is compressed once, and sent often
        # @return [Fragment]
        # @raise [TypeError] the text is no String
        def new(text, level: 6)
          text = own(text)
          _make(text, Deflation.deflate(text, level), digest_of(text))
        end

        # A fragment whose text is kept apart from compression: for a secret, such as a token against cross-site
        # requests, in a page that also shows what somebody else has written. Where the two are compressed together, the
        # page's length tells how much of the secret the other text repeats (the attack BREACH).
        #
        # @return [Fragment]
        def secret(text)
          text = own(text)
          _make(text, _stored(text), digest_of(text))
        end

        # A fragment for one page alone: compressed fast, and without a digest.
        # @private
        def _for_once(text) = _make(text, Deflation.deflate(text, 1), "")

        # @param bytes [String] what {#dump} has returned
        # @return [Fragment, nil] nil: these are not the bytes of a fragment, or those of another version of Pelton
        def load(bytes)
          return if bytes.bytesize < HEADER_LENGTH
          version, digest, length, deflated = bytes.unpack(HEADER)
          return unless version == VERSION && bytes.bytesize == HEADER_LENGTH + length + deflated
          text = bytes.byteslice(HEADER_LENGTH, length).force_encoding(Encoding::UTF_8)
          _make(text, bytes.byteslice(HEADER_LENGTH + length, deflated).b, digest)
        end

        private

        def own(text)
          unless text.is_a?(String)
            raise TypeError, "a fragment is made of a String, not of #{text.class}: call to_s on it"
          end
          text.frozen? ? text : text.dup.freeze
        end

        def digest_of(text) = EntityTag.digest(text)
      end

      # @return [Integer] of the text
      def bytesize = text.bytesize

      # @return [Integer] the bytes of memory that the texts take, about
      def memory = text.bytesize + deflated.bytesize + 256

      # The fragment as bytes, for a store outside of the process. {.load} makes it again, without compressing.
      #
      # @return [String] binary
      def dump = [VERSION, digest, text.bytesize, deflated.bytesize].pack(HEADER) << text.b << deflated

      # @return [String] the text
      def to_s = text

      def inspect = "#<#{self.class} #{bytesize} bytes, deflated #{deflated.bytesize}>"
    end
  end
end
