# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/http"
require "pelton/http/stats"

class HTTPStatsTest < PeltonTest
  def test_all_that_a_server_counts_is_described
    server = Pelton::HTTP::Server.new(->(_env) {}, cache: 1 << 20)

    assert_equal server.stats.keys.map(&:to_s).sort, Pelton::HTTP::STATS.keys.sort
  end
end
