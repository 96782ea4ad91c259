# frozen_string_literal: true

require "test_helper"

class AdministrationTest < ApplicationTest
  def setup
    @admin = create_user.tap { |user| user.tap(&:admin!).save_changes }
    @bob = create_user("bob@example.com")
  end

  def test_for_all_others_it_does_not_exist
    sign_in(@bob)
    %w[users rooms bots].each do |page|
      get "/admin/#{page}"

      assert_response 404
    end
  end

  def test_a_user_is_deactivated_and_let_in_again
    sign_in(@admin)
    in_another_browser { sign_in(@bob) }
    patch "/admin/users/#{@bob.id}", change: "deactivate"

    refute in_another_browser { signed_in? }
    assert_nil User.authenticate(@bob.email, PASSWORD)
    get "/admin/users"

    assert_response 200, "bob@example.com", "deactivated"
    patch "/admin/users/#{@bob.id}", change: "activate"

    assert User.authenticate(@bob.email, PASSWORD)
    patch "/admin/users/#{@bob.id}", change: "promote"

    assert_predicate @bob.reload, :admin?
    patch "/admin/users/#{@admin.id}", change: "demote"

    assert_response 403
  end

  def test_rooms_and_bots
    room = Room.create(name: "Kitchen") { |room| room.creator = @bob }
    sign_in(@admin)
    get "/admin/rooms"

    assert_response 200, "Kitchen"
    delete "/admin/rooms/#{room.id}"

    assert_equal 0, Room.count
    post "/admin/bots", bot: {name: "Tea bot", webhook_url: ""}

    assert_response 201, "@tea.bot"
    assert Bot.of_token(response.body[%r{<code>([\w-]{43})</code>}, 1])
    post "/admin/bots", bot: {name: "Bad bot", webhook_url: "javascript:x"}

    assert_equal 1, Bot.count
    delete "/admin/bots/#{Bot.first.id}"

    assert_equal 0, Bot.count
  end

  def test_the_first_user_is_the_administrator
    User.all.each(&:destroy)
    2.times do |number|
      in_another_browser do
        clear_cookies &&
          post("/sign_up", user: {name: "Ann#{"!" * number}", email: "a#{number}@example.com", password: PASSWORD})
      end
    end

    assert_equal [[:admin, "ann"], [:member, "ann.2"]], User.order(:id).map { |user| [user.role, user.handle] }
  end
end
