# frozen_string_literal: true

require "pelton/web"
require_relative "../support/controllers"

class WebControllerActionsTest < PeltonTest
  include WebControllers

  module Mixed
    def mixed = head(200)
  end

  class PostsController < Pelton::Web::Controller
    include Mixed

    def show = head(200)

    private

    def hidden = head(200)
  end

  class Plain; end

  def test_actions_are_the_public_methods_of_subclasses
    assert_equal %i[mixed show], PostsController.action_methods.sort
    %i[hidden render new_session object_id instance_eval].each do |action|
      assert_raises(Pelton::Web::ConfigurationError, action) do
        PostsController.endpoint(action, Pelton::Web::Settings.new, nil)
      end
    end
  end

  def test_addresses_are_no_actions
    application = Class.new(Pelton::Web::Application) do
      routes { get "/", to: "web_controller_actions_test/posts#show", as: :post }
    end
    application.boot!

    assert_equal %i[mixed show], PostsController.action_methods.sort
  end

  def test_the_controller_of_a_route
    assert_equal [PostsController, :show], Pelton::Web::Controller.named("web_controller_actions_test/posts#show")
    ["web_controller_actions_test/posts", "nothing#show", "../posts#show",
      "web_controller_actions_test/plain#show"].each do |target|
      assert_raises(Pelton::Web::ConfigurationError, target) { Pelton::Web::Controller.named(target) }
    end
  end

  def test_finishers_run_in_order_where_their_variable_is_set
    controller = Class.new(Pelton::Web::Controller) do
      finish_with :one, if: :@one
      finish_with :two
      rescue_from(KeyError) { head 404 }
      define_method(:show) { (@one = params[:one]).then { head(200) } }
      define_method(:fails) { raise KeyError }
      define_method(:one) { headers["x-order"] = "one" }
      define_method(:two) { headers["x-order"] = [headers["x-order"], "two"].compact.join(" ") }
      private :one, :two
    end
    app = serving(controller)

    assert_equal ["two", "one two", "two"],
      %w[/show /show?one=1 /fails].map { |path| request(app, "GET", path)["x-order"] }
  end

  def test_the_env_names_the_route
    env = Rack::MockRequest.env_for("http://localhost/things/5")
    application = Class.new(Pelton::Web::Application) { routes { get("/things/:id") { params[:id] } } }
    application.call(env)

    assert_equal "/things/:id", env["pelton.web.route"].to_s
  end

  def test_the_code_can_be_read
    code = Class.new(PostsController) { before_action :check, only: :show }.code_of(:show)

    assert_match(/check\n\s+unless @response&.answered\?\n\s+show\n/, code)
  end
end
