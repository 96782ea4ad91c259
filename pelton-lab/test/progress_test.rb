# frozen_string_literal: true

require "test_helper"
require "pelton/lab/progress"
require "stringio"

class LabProgressTest < PeltonTest
  def progress(tty, columns: 80)
    output = StringIO.new
    output.define_singleton_method(:tty?) { tty }
    @time = 0
    yield Pelton::Lab::Progress.new(output, clock: -> { @time }, columns:)
    output.string
  end

  def test_a_bar_on_a_terminal
    assert_equal "\r\e[K[==========          ]  50 %  round 1\r\e[K", (progress(true) do |progress|
      progress.call("round 1", 0.5)
      progress.clear
    end)
  end

  def test_how_long_it_will_take_once_that_can_be_guessed
    text = progress(true) do |progress|
      @time = 30
      progress.call("round 1", 0.25)
    end

    assert_includes text, " 25 %, 1:30 left  round 1"
  end

  def test_it_fits_into_one_line
    assert_equal "\r\e[K[=====               ]  2",
      progress(true, columns: 26) { |progress| progress.call("round 1", 0.25) }
  end

  def test_a_line_now_and_then_in_a_file
    text = progress(false) do |progress|
      [[0, "round 1", 0.0], [9, "round 2", 0.1], [10, "round 3", 0.25], [19, "round 4", 0.3],
        [25, "round 5", 0.5]].each do |time, text, share|
        @time = time
        progress.call(text, share)
      end
      progress.clear
    end

    assert_equal ["  0 %  round 1", " 25 %, 0:30 left  round 3", " 50 %, 0:25 left  round 5"], text.lines(chomp: true)
  end
end
