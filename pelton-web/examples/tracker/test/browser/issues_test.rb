# test/browser/issues_test.rb
# frozen_string_literal: true

ENV["TEST_DATABASE_URL"] = "sqlite://#{File.expand_path("../../db/browser.sqlite3", __dir__)}"
require "test_helper"
require "capybara/minitest"
require "capybara/cuprite"

Capybara.register_server(:pelton) { |app, port, host| Pelton::Web::Test.serve(app, port: port, host: host) }
Capybara.server = :pelton
Capybara.app = Tracker
# As root, as in a container, Chromium runs without its sandbox only.
Capybara.register_driver(:cuprite) do |app|
  Capybara::Cuprite::Driver.new(app, browser_options: {"no-sandbox" => nil}, process_timeout: 30)
end
Capybara.default_driver = :cuprite
Capybara.default_max_wait_time = 10

class BrowserTest < Minitest::Test
  include Capybara::DSL
  include Capybara::Minitest::Assertions

  def setup
    [Comment, Issue, SignIn, User].each { |model| model.dataset.delete }
  end

  def teardown
    Capybara.reset_sessions!
  end

  def test_a_comment_comes_to_a_page_that_is_open
    visit "/issues/new"
    click_link "Sign up"
    fill_in "Email", with: "ann@example.com"
    fill_in "Password", with: "correct horse battery"
    click_button "Sign up"

    assert_text "Welcome."
    fill_in "Title", with: "It breaks"
    click_button "Save"

    assert_text "Thank you."
    using_session(:reader) do
      visit "/issues/#{Issue.first.id}"

      assert_text "It breaks"
    end
    fill_in "Comment", with: "Here, too."
    click_button "Comment"
    using_session(:reader) { assert_text "Here, too." }
  end
end
