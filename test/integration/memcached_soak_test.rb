# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../soak/memcached"

# A few seconds of `rake soak`.
class MemcachedSoakTest < PeltonTest
  self.deadline = 120

  def test_some_seconds_of_soaking
    soak = Soak::Memcached.new(3, Random.new_seed % 10_000)

    assert soak.run, "a wrong answer"
    assert_operator soak.answers.fetch("right"), :>, 100
    assert_operator soak.troubles.values.sum, :>, 3
  end
end
