# frozen_string_literal: true

module Pelton
  module Lab
    # The bytes of bulk transfers: a block known to both ends, repeated. Its length is no power of two, so that a piece
    # that is lost, doubled or out of order changes the whole.
    module Pattern
      BLOCK = Random.new(42).bytes(65_521).freeze

      # Yields the pieces of that many bytes.
      def self.each_block(bytes)
        return enum_for(:each_block, bytes) unless block_given?
        (bytes / BLOCK.bytesize).times { yield BLOCK }
        rest = bytes % BLOCK.bytesize
        yield BLOCK.byteslice(0, rest) if rest > 0
      end

      # The digest of that many bytes.
      def self.digest(bytes)
        require "digest"
        each_block(bytes).with_object(Digest::SHA256.new) { |block, digest| digest << block }.hexdigest
      end
    end
  end
end
