# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebFlashTest < PeltonTest
  def setup
    @session = Pelton::Web::Session.new(nil, secrets: Pelton::Web::Secrets.new(["s" * 32]), lifetime: 100)
  end

  # One request.
  def page
    flash = Pelton::Web::Flash.new(@session)
    yield flash
    flash.commit
  end

  def messages = {}.tap { |all| page { |flash| flash.each { |name, text| all[name] = text } } }

  def test_a_message_is_for_the_next_page
    page { |flash| flash[:notice] = "Saved." }

    assert_equal({"notice" => "Saved."}, messages)
    assert_empty messages
    assert_empty @session
  end

  def test_now
    page do |flash|
      flash.now[:alert] = "Try again."

      assert_equal "Try again.", flash.alert
      assert_nil flash.notice
    end

    assert_empty messages
  end

  def test_keep_and_discard
    page { |flash| flash.now[:none] = flash[:notice] = flash[:alert] = "x" }
    page { |flash| flash.keep(:notice) }

    assert_equal({"notice" => "x"}, messages)
    page { |flash| flash[:a] = flash[:b] = "x" }
    page { |flash| flash.keep || flash.discard(:a) }

    assert_equal({"b" => "x"}, messages)
  end

  def test_what_is_no_flash
    @session["flash"] = [1]

    assert_empty messages
  end
end
