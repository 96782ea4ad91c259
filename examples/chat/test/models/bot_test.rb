# frozen_string_literal: true

require "test_helper"

class BotTest < ApplicationTest
  # bcrypt takes a fifth of a second, in which nobody else could write.
  def test_its_password_is_digested_before_the_transaction
    open = 0
    digested = []
    digest = ->(*) { (digested << open) && "digest" }
    transaction = lambda do |*, &block|
      open += 1
      block.call
    ensure
      open -= 1
    end
    Pelton::Web::Password.stub(:digest, digest) { DB.stub(:transaction, transaction) { Bot.make("Tea bot", nil) } }

    assert_equal [0], digested
  end

  def test_a_token_finds_its_bot
    bot, token = Bot.make("Tea bot", nil)

    assert_equal bot.id, Bot.of_token(token).id
    assert_nil Bot.of_token("#{token}x")
    assert_predicate bot.user, :bot?
  end
end
