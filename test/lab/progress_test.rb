# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/lab/progress"
require "stringio"

class LabProgressTest < PeltonTest
  def progress(tty)
    output = StringIO.new
    output.define_singleton_method(:tty?) { tty }
    progress = Pelton::Lab::Progress.new(output)
    progress.call("round 1")
    progress.clear
    output.string
  end

  def test_one_line_on_a_terminal
    assert_equal "\r\e[Kround 1\r\e[K", progress(true)
  end

  def test_nothing_elsewhere
    assert_empty progress(false)
  end
end
