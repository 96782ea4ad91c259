# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebRoutesResourcesTest < PeltonTest
  def test_resources
    assert_equal <<~TEXT, drawn { resources :posts }
      posts GET /posts(.:format) posts#index
      posts POST /posts(.:format) posts#create
      new_post GET /posts/new(.:format) posts#new
      edit_post GET /posts/:id/edit(.:format) posts#edit
      post GET /posts/:id(.:format) posts#show
      post PATCH /posts/:id(.:format) posts#update
      - PUT /posts/:id(.:format) posts#update
      post DELETE /posts/:id(.:format) posts#destroy
    TEXT
  end

  def test_one_of_its_kind
    assert_equal <<~TEXT, drawn { resource :company, only: %i[show edit] }
      company GET /company(.:format) companies#show
      edit_company GET /company/edit(.:format) companies#edit
    TEXT
  end

  def test_what_is_nested
    expected = <<~TEXT
      comments GET /posts/:post_id/comments(.:format) comments#index
      comment DELETE /posts/:post_id/comments/:id(.:format) comments#destroy
      publish POST /posts/:id/publish(.:format) posts#publish
      preview GET /posts/:id/preview(.:format) posts#preview
      search GET /posts/search(.:format) posts#search
      log GET /posts/:post_id/log logs#show
    TEXT
    names = %w[post_comments post_comment publish_post preview_post search_posts post_log]
    lines = drawn do
      resources :posts, only: [] do
        resources :comments, only: %i[index destroy]
        member { post :publish }
        get :preview, on: :member
        collection { get :search }
        get "/log", to: "logs#show", as: :log
      end
    end

    assert_equal expected.lines.zip(names).map { |line, name| line.sub(/\A\w+/, name) }.join, lines
  end

  def test_in_a_namespace
    routes = drawn do
      namespace(:admin) do
        resources(:posts, only: %i[index new], as: :articles, path: "texts") { member { get :log } }
      end
    end
    assert_equal <<~TEXT, routes
      admin_articles GET /admin/texts(.:format) admin/posts#index
      new_admin_article GET /admin/texts/new(.:format) admin/posts#new
      log_admin_article GET /admin/texts/:id/log(.:format) admin/posts#log
    TEXT
  end

  def test_constraints_and_the_variable
    routes = Pelton::Web::Routes.new
    routes.resources(:posts, only: :show, param: :slug, constraints: {slug: /[a-z]+/}) { resources :tags, only: :index }

    assert_equal [{slug: /[a-z]+/}, {post_slug: /[a-z]+/}], routes.list.map { |route| route.pattern.constraints }
  end

  def test_a_word_without_a_plural
    assert_equal "sheep_index GET /sheep(.:format) sheep#index\nsheep GET /sheep/:id(.:format) sheep#show\n",
      drawn { resources :sheep, only: %i[index show] }
  end

  def test_mistakes
    routes = Pelton::Web::Routes.new

    assert_raises(Pelton::Web::ConfigurationError) { routes.resources(:posts, only: :shwo) }
    assert_raises(Pelton::Web::ConfigurationError) { routes.resource(:profile, except: :list) }
    assert_raises(Pelton::Web::ConfigurationError) { routes.member {} }
    assert_raises(Pelton::Web::ConfigurationError) { routes.get(:preview) }
  end

  private

  def drawn(&block)
    routes = Pelton::Web::Routes.new.tap { |all| all.instance_exec(&block) }
    routes.list.map { |route| "#{route.name || "-"} #{route.verb} #{route} #{route.target}\n" }.join
  end
end
