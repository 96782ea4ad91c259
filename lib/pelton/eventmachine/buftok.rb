# frozen_string_literal: true

# Cuts a stream of bytes at a delimiter. It stands outside of EventMachine, because it does there.
class BufferedTokenizer
  # @param delimiter [String, Regexp]
  def initialize(delimiter = $/, size_limit = nil)
    @delimiter = delimiter
    @size_limit = size_limit
    @buffer = +""
    @searched = 0
  end

  # @return [Array<String>] what is complete now; the rest is kept
  # @raise [RuntimeError] when the rest is beyond the limit
  def extract(data)
    @buffer << data
    tokens = []
    while (place = @buffer.index(@delimiter, @searched))
      tokens << @buffer.slice!(0, place)
      @buffer.slice!(0, @delimiter.is_a?(Regexp) ? $~[0].length : @delimiter.length)
      @searched = 0
    end
    @searched = [@buffer.length - (@delimiter.is_a?(Regexp) ? @buffer.length : @delimiter.length) + 1, 0].max
    raise "input buffer full" if @size_limit && (@buffer.size > @size_limit || tokens.any? { |token| token.size > @size_limit })
    tokens
  end

  # @return [String] what is kept
  def flush
    @searched = 0
    @buffer.tap { @buffer = +"" }
  end

  def empty? = @buffer.empty?
end
