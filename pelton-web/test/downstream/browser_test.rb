# frozen_string_literal: true

require_relative "../support/web_program"
require_relative "../../../test/support/chromium"

# The guide's test of a form, in a browser.
class WebBrowserTest < PeltonTest
  include WebProgram

  self.deadline = 180

  APPLICATION = <<~'RUBY'
    require "pelton/web/test"

    class MessagesController < Pelton::Web::Controller
      LIST = []

      def index = render(html: page)

      def create
        LIST << params.string(:text)
        redirect_to "/"
      end

      private

      def page
        "<!doctype html><title>Shop</title>#{LIST.map { |text| "<p>#{CGI.escapeHTML(text)}</p>" }.join}" \
          "<form action=/ method=post><label>Message <input name=text></label><button>Send</button></form>"
      end
    end

    class Shop < Pelton::Web::Application
      routes do
        get "/", to: "messages#index"
        post "/", to: "messages#create"
      end
    end

    require "minitest/autorun"
  RUBY

  def test_the_guide_s_test_passes
    skip "no chromium" unless Chromium.path
    output = web_output("#{APPLICATION}\n#{guide_code("web_testing.md", "In a browser")}", deadline: 120)

    assert_match(/^1 runs, [1-9]\d* assertions, 0 failures, 0 errors, 0 skips$/, output)
  end
end
