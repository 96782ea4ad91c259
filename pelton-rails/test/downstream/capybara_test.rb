# frozen_string_literal: true

require_relative "../support/rails_program"
require_relative "../../../test/support/chromium"

class CapybaraTest < PeltonTest
  include RailsProgram

  self.deadline = 120

  # A system test as `rails generate system_test` makes it; the test and the page share the database's transaction.
  SYSTEM_TEST = <<~'RUBY'
    require "rails/test_help"
    require "capybara/cuprite"
    Capybara.register_driver(:chromium) do |app|
      Capybara::Cuprite::Driver.new(app,
        browser_path: ENV["CHROMIUM"], browser_options: {"no-sandbox" => nil}, process_timeout: 30)
    end
    class PostsController < ActionController::Base
      def index = render(inline: <<~HTML)
        <ul><% Post.order(:id).each do |post| %><li><%= post.title %></li><% end %></ul>
        <form action="/posts" method="post"><input name="title"><button>Save</button></form>
        <script>fetch("/slow").then(answer => answer.text()).then(text => document.body.append(text))</script>
      HTML

      def create
        Post.create!(title: params[:title])
        redirect_to "/posts"
      end
      skip_forgery_protection

      def slow = sleep(0.1) && render(plain: "served by #{request.env["SERVER_SOFTWARE"]}")
    end
    TestApplication.routes.draw do
      resources :posts
      get "slow", to: "posts#slow"
    end
    class ApplicationSystemTestCase < ActionDispatch::SystemTestCase
      Capybara.server = :pelton
      driven_by :chromium
    end
    class PostsTest < ApplicationSystemTestCase
      test "a form" do
        Post.create!(title: "of the test")
        visit "/posts"
        assert_text "of the test"
        assert_text "served by Pelton"
        fill_in "title", with: "of the page"
        click_on "Save"
        assert_text "of the page"
        assert_equal 2, Post.count
      end
    end
    Minitest.after_run { puts "#{Post.count} posts" }
  RUBY

  def test_system_tests_run_against_pelton
    skip "no chromium" unless Chromium.path
    environment = {"CHROMIUM" => Chromium.path, "RAILS_ENV" => "test"}
    output = rails_output(SYSTEM_TEST, setup: APPLICATION + DATABASE, env: environment)

    assert_match(/^1 runs, 4 assertions, 0 failures, 0 errors, 0 skips\n.*^0 posts$/m, output)
  end
end
