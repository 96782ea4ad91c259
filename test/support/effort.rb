# frozen_string_literal: true

# Counts what a block does, for tests of how that grows: the lines that it runs, the methods in C that it calls, and the
# bytes that those read which read a whole String. No clock is asked, so a busy machine counts the same.
module Effort
  READERS = %i[
    b casecmp? count delete downcase dup encode end_with? force_encoding gsub hash include? lines lstrip match match?
    rindex rstrip scan
    scrub split squeeze start_with? strip sub tr unpack unpack1 upcase valid_encoding? =~ +
  ].to_h { |name| [name, true] }.freeze

  # @return [Integer]
  def effort(&block)
    effort = 0
    place = {}.compare_by_identity # where the last search in a String has ended
    trace = TracePoint.new(:line, :c_call, :c_return) do |point|
      text = point.self
      if point.event != :c_return
        effort += 1
        effort += text.bytesize if String === text && point.event == :c_call && READERS[point.method_id]
      elsif String === text && point.method_id == :index
        found = point.return_value || text.bytesize
        effort += (found > (before = place[text] || 0)) ? found - before : found
        place[text] = found
      end
    end
    trace.enable(target_thread: Thread.current, &block)
    effort
  end

  # Fails if twice as much costs more than twice as much, and a fifth.
  #
  # @yieldparam size [Integer]
  def assert_linear(name, size, &block)
    # What is made at the first request; another size, because some answers are remembered
    3.times { block.call(size / 2) }
    once, twice = [size, 2 * size].map { |one| effort { block.call(one) } }

    assert_operator twice, :<, once * 2.2, "#{name}: from #{once} to #{twice}"
  end
end
