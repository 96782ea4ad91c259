# frozen_string_literal: true

module Mutations
  # A small fault in a text: these bytes of it are replaced.
  #
  # @!attribute kind [Symbol] :condition, :result, :bound, :call, :literal or :logic
  # @!attribute start [Integer] the first byte
  # @!attribute length [Integer] in bytes
  # @!attribute text [String] what takes their place
  Change = Struct.new(:kind, :start, :length, :text)
end
