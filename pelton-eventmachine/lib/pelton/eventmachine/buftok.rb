# frozen_string_literal: true

# Splits a stream of bytes at a delimiter. It is a top-level class, as in EventMachine.
class BufferedTokenizer
  # @param delimiter [String, Regexp]
  # @param size_limit [Integer, nil] bytes of the longest token; nil: no limit
  def initialize(delimiter = $/, size_limit = nil)
    @delimiter = delimiter
    @size_limit = size_limit
    @buffer = +""
    @searched = 0
  end

  # @return [Array<String>] the tokens that are complete now; the rest is kept
  # @raise [RuntimeError] when a token or the rest is longer than the limit
  def extract(data)
    @buffer << data
    tokens = []
    while (index = @buffer.index(@delimiter, @searched))
      tokens << @buffer.slice!(0, index)
      @buffer.slice!(0, @delimiter.is_a?(Regexp) ? $~[0].length : @delimiter.length)
      @searched = 0
    end
    @searched = [@buffer.length - (@delimiter.is_a?(Regexp) ? @buffer.length : @delimiter.length) + 1, 0].max
    if @size_limit && (@buffer.size > @size_limit || tokens.any? { |token| token.size > @size_limit })
      raise "input buffer full"
    end
    tokens
  end

  # Empties the buffer.
  #
  # @return [String] the rest that was kept
  def flush
    @searched = 0
    @buffer.tap { @buffer = +"" }
  end

  def empty? = @buffer.empty?
end
