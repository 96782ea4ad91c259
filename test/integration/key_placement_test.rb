# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../shared/key_placement"

class KeyPlacementTest < PeltonTest
  include KeyPlacement

  self.deadline = 120

  def test_100_000_keys_on_one_to_twenty_servers_with_weights_have_the_servers_that_libmemcached_chooses
    keys = random_keys(100_000)

    (1..20).each { |count| assert_placed_alike(keys, random_servers(count)) }
  end
end
