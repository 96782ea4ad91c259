# frozen_string_literal: true

require "test_helper"

class RoomTest < ApplicationTest
  def setup
    @ann, @bob = create_user, create_user("bob@example.com")
  end

  def test_two_have_one_conversation
    room = Room.direct([@ann, @bob])

    assert_equal room.id, Room.direct([@bob, @ann]).id
    assert_equal [@ann.id, @bob.id], room.users.map(&:id).sort
    assert_equal %w[Bob Ann], [room.name_for(@ann), room.name_for(@bob)]
    assert_equal "Ann", Room.direct([@ann, @ann]).name_for(@ann)
  end

  def test_who_may_change_it
    room = Room.create(name: "Kitchen") { |room| room.creator = @ann }

    assert room.managed_by?(@ann)
    refute room.managed_by?(@bob)
    @bob.tap(&:admin!).save_changes

    assert room.managed_by?(@bob)
    refute Room.direct([@ann, @bob]).managed_by?(@ann)
  end

  def test_a_name_is_needed
    refute_predicate Room.new(name: " "), :valid?
    refute_predicate Room.new(name: "x" * 61), :valid?
  end
end
