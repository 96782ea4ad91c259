# frozen_string_literal: true

require "test_helper"

class UserTest < ApplicationTest
  def test_a_password_is_right_or_wrong
    user = create_user

    assert_equal user.id, User.authenticate(" Ann@Example.com ", PASSWORD).id
    [["ann@example.com", "wrong"], ["ann@example.com", nil], ["bob@example.com", PASSWORD], [nil, nil],
      [{"a" => 1}, ["x"]]].each { |email, password| assert_nil User.authenticate(email, password) }
    refute_includes user.reload.values.values, PASSWORD
  end

  # A database that compares without accents finds Ann by all of them, and limits would count each separately.
  def test_another_spelling_is_another_address
    user = create_user
    User.stub(:first, user) do
      assert_nil User.authenticate("änn@example.com", PASSWORD)
      assert_nil User.with_email("änn@example.com")
      assert_equal user.id, User.with_email(" ANN@example.com").id
    end
  end

  def test_of_two_changes_of_a_password_at_once_one_counts
    user, same = create_user, User.first

    assert user.change_password("another long sentence")
    refute same.change_password("yet another sentence")
    assert_equal ["was changed meanwhile"], same.errors[:password]
    assert User.authenticate(user.email, "another long sentence")
  end

  def test_what_is_invalid
    create_user
    {
      {email: "ANN@example.com"} => :email, {email: "ann"} => :email, {email: ""} => :email,
      {email: "a b@example.com"} => :email,
      {password: "short"} => :password, {password: ""} => :password, {password: nil} => :password,
      {password: "x" * 257} => :password
    }.each do |wrong, name|
      user = User.new({name: "Bob", email: "bob@example.com", password: PASSWORD}.merge(wrong))

      refute_predicate user, :valid?, wrong.inspect
      assert_equal [name], user.errors.keys
    end
    assert_predicate User.new(name: "Bob", email: "bob@example.com", password: "é" * 256), :valid?
  end

  def test_names_that_look_the_same_are_one
    create_user(name: "Ann Smith")
    ["ann smith", " Ann\u00a0 Smith", "Ａnn Smith", "Ann\u200b Smith"].each do |name|
      user = User.new(name: name, email: "other@example.com", password: PASSWORD)

      refute_predicate user, :valid?, name
      assert_equal [:name], user.errors.keys, name
    end
    assert create_user("sales@example.com", name: "Ann Smith (Sales)")
    refute_predicate User.new(name: "\u200b", email: "other@example.com", password: PASSWORD), :valid?, "nothing to see"
  end

  def test_of_two_users_who_take_a_name_at_once_one_gets_it
    create_user
    user = User.new(name: "Ann", email: "other@example.com", password: PASSWORD)
    looks = 0
    # The other one is saved after the first look
    user.define_singleton_method(:validate_name) { super() if (looks += 1) > 1 }

    refute_predicate user, :save_or_explain
    assert_equal [:name], user.errors.keys
  end

  def test_of_two_users_who_get_a_handle_at_once_one_gets_another
    create_user(name: "Ann!")
    user = User.new(name: "Ann", email: "other@example.com", password: PASSWORD) { |one| one.handle = "ann" }

    assert_predicate user, :save_or_explain
    assert_equal "ann.2", user.handle
  end

  def test_the_digest_is_not_shown
    user = create_user

    refute_includes user.to_json, "password"
    refute_includes user.inspect, user.password_digest
  end
end
