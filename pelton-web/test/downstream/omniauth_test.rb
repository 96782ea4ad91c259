# frozen_string_literal: true

require_relative "../support/web_program"

# OmniAuth is middleware that keeps its state in the application's session.
class WebOmniAuthTest < PeltonTest
  include WebProgram

  self.deadline = 60

  PROGRAM = <<~'RUBY'
    require "pelton/web/test"
    require "omniauth"

    OmniAuth.config.logger = Logger.new(nil)
    %s

    class SessionsController < Pelton::Web::Controller
      skip_forgery_protection only: :create

      def create
        session[:user] = env["omniauth.auth"].info.email
        render text: "#{env["omniauth.params"]} #{env["omniauth.origin"]}"
      end

      def show = render(text: "signed in: #{session[:user]}")
    end

    class Shop < Pelton::Web::Application
      settings.environment = "test"
      use(OmniAuth::Builder) { provider :developer }
      routes do
        get "/", to: "sessions#show"
        post "/auth/developer/callback", to: "sessions#create"
      end
    end

    client = Object.new.extend(Pelton::Web::Test)
    def client.app = Shop
    client.header "Sec-Fetch-Site", "cross-site"
    client.post "/auth/developer"
    puts client.response["location"]
    client.header "Sec-Fetch-Site", "same-origin"
    client.post "/auth/developer?back=1&origin=/cart"
    puts client.response.status
    client.post "/auth/developer/callback", name: "Ann", email: "ann@example.com"
    puts client.response.body
    client.get "/"
    puts client.response.body
  RUBY

  def test_its_state_and_the_controller_s_are_in_one_session
    refused, form, state, page =
      web_output(format(PROGRAM, guide_code("web_security.md", "OmniAuth"))).lines.map(&:chomp)

    assert_includes refused, "/auth/failure?message=authenticity_error"
    assert_equal "200", form
    assert_equal({"back" => "1", "origin" => "/cart"}.to_s + " /cart", state)
    assert_equal "signed in: ann@example.com", page
  end
end
