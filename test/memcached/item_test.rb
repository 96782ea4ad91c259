# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/memcached"

class ItemTest < PeltonTest
  Item = Pelton::Memcached::Item

  def test_an_item_without_end_has_no_ttl
    assert_nil Item.new("v", 0, 1, -1).ttl
    assert_equal 0, Item.new("v", 0, 1, 0).ttl
    assert_equal 60, Item.new("v", 0, 1, 60).ttl
  end

  def test_members
    item = Item.new("v", 3, 4, 5, true)

    assert_equal ["v", 3, 4, 5, true], item.to_a
    assert_equal false, Item.new("v", 3, 4, 5).won
  end
end
