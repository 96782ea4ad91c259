# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebRoutesUrlsTest < PeltonTest
  Post = Struct.new(:id)

  def urls(base: nil)
    routes = Pelton::Web::Routes.new
    routes.instance_exec do
      root to: "home#index"
      get "/posts/:id(.:format)", to: "posts#show", as: :post
      get "/users/:user_id/posts/:id", to: "posts#show", as: :user_post
    end
    Pelton::Web::Routes::Urls.new(routes.list, base: base)
  end

  def test_paths
    assert_equal "/", urls.root_path
    assert_equal "/posts/7", urls.post_path(Post.new(7))
    assert_equal "/posts/7.json", urls.post_path(7, format: :json)
    assert_equal "/posts/7.json", urls.post_path(7, :json)
    assert_equal "/users/1/posts/2", urls.user_post_path(1, 2)
    assert_equal "/users/1/posts/2", urls.user_post_path(2, user_id: Post.new(1))
  end

  def test_other_keywords_are_the_query
    assert_equal "/posts/7?q=a+%26+b&tags[]=1&tags[]=2#top%20",
      urls.post_path(7, q: "a & b", tags: [1, 2], anchor: "top ").gsub("%5B", "[").gsub("%5D", "]")
  end

  def test_urls_need_a_host
    assert_equal "https://a.example/posts/7", urls(base: "https://a.example").post_url(7)
    assert_raises(Pelton::Web::ConfigurationError) { urls.post_url(7) }
  end

  def test_an_object_says_where_it_is
    there = urls
    host = Class.new do
      include there

      def url_prefix = "/app"

      def url_base = "http://b.example"
    end

    assert_equal "/app/posts/7", host.new.post_path(7)
    assert_equal "http://b.example/app/posts/7", host.new.post_url(7)
  end

  def test_wrong_arguments
    assert_raises(ArgumentError) { urls.post_path }
    assert_raises(ArgumentError) { urls.post_path(1, 2, 3) }
  end
end
