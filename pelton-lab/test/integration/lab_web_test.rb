# frozen_string_literal: true

require "test_helper"
require_relative "small_runs"

# The experiments with web servers, small: every installed server answers rightly.
class LabWebTest < PeltonTest
  include SmallRuns::Web

  self.deadline = 240

  def test_hello
    run_small("hello", "--size", "1", races: %r{keep-alive|HTTP/2|JSON|CPU})
  end

  def test_hello_with_other_connections
    run_small("hello", "--size", "1", "--no-peers", races: /connections/)
  end

  def test_broker
    run_small("broker", "--size", "20")
  end

  # Without races whose pages others have, too. A second may bring no more than the handshakes.
  def test_edge
    skip "no h2load" unless Pelton::Lab::Programs.find("h2load")
    run_small("edge", "--size", "2", races: /hello|10 KB|5 MB|public|assets/)
  end

  # Three connections, three slow readers of 8 MB, three uploads of 100 MB.
  def test_connections
    run_small("connections", "--size", "3")
  end

  def test_slow
    run_small("slow", "--size", "2", races: /a thousand/) # the others sleep for minutes, one after the other
  end
end
