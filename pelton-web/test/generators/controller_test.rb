# frozen_string_literal: true

require_relative "../support/generating"

class WebGeneratorsControllerTest < PeltonTest
  include Generating

  def routes = text_of("config/routes.rb")

  def test_resources
    said = generate("controller", "posts", "index", "show", "new", "create", "search")

    assert_equal %w[app/controllers/posts_controller.rb app/views/posts/index.html.erb app/views/posts/new.html.erb
      app/views/posts/search.html.erb
      app/views/posts/show.html.erb test/controllers/posts_controller_test.rb], written
    assert_includes said, "      insert  config/routes.rb"
    assert_equal <<~RUBY, routes
      Shop.routes do
        resources :posts, only: [:index, :show, :new, :create] do
          get :search, on: :collection
        end
        root to: "home#index"
      end
    RUBY
    assert_includes text_of("app/controllers/posts_controller.rb"),
      "class PostsController < ApplicationController\n  def index\n  end\n"
    assert_includes text_of("app/controllers/posts_controller.rb"), "  def create\n    redirect_to posts_path\n  end\n"
    assert_includes text_of("test/controllers/posts_controller_test.rb"),
      "    post \"/posts\"\n\n    assert_redirected_to \"/posts\"\n"
  end

  def test_all_of_a_resource
    generate("controller", "PostsController", *%w[index show new edit create update destroy])

    assert_includes routes, "  resources :posts\n"
    assert_includes text_of("test/controllers/posts_controller_test.rb"), "delete \"/posts/1\""
  end

  def test_in_a_module
    generate("controller", "Admin::Reports", "index", "destroy")

    assert_includes routes, "  namespace(:admin) do\n    resources :reports, only: [:index, :destroy]\n  end\n"
    assert_includes text_of("app/controllers/admin/reports_controller.rb"),
      "module Admin\n  class ReportsController < ApplicationController\n    def index\n    end\n"
    assert_includes text_of("app/controllers/admin/reports_controller.rb"), "redirect_to admin_reports_path"
  end

  def test_pages
    generate("controller", "about", "index", "team")

    assert_includes routes, "  get \"/about\", to: \"about#index\"\n  get \"/about/team\", to: \"about#team\"\n"
  end

  def test_without_a_list_there_is_nowhere_to_go
    generate("controller", "posts", "create")

    assert_includes text_of("app/controllers/posts_controller.rb"), "    head 204\n"
    assert_includes text_of("test/controllers/posts_controller_test.rb"), "assert_response 204"
  end

  def test_without_actions_or_routes
    generate("controller", "posts")

    assert_equal "# frozen_string_literal: true\n\nclass PostsController < ApplicationController\nend\n",
      text_of("app/controllers/posts_controller.rb")
    generate("controller", "comments", "index", "--no-routes")

    refute File.exist?(File.join(@root, "test/controllers/comments_controller_test.rb"))
    assert_equal Generating::ROUTES, routes
  end

  def test_routes_are_not_written_twice
    2.times { generate("controller", "posts", "index") }

    assert_equal 1, routes.scan("resources").size
  end

  def test_what_is_refused
    assert_includes refused("controller", "../posts", "index"), "cannot be the name of a controller"
    assert_includes refused("controller", "application"), "is the name of something else"
    ["Index", "a-b", "in dex", "render", "params", "send", "redirect_to", "1"].each do |action|
      assert_includes refused("controller", "posts", action), "cannot be an action"
    end
  end
end
