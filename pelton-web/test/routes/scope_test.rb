# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebRoutesScopeTest < PeltonTest
  def test_paths_modules_and_names
    scope = Pelton::Web::Routes::Scope.new.inside("/admin", module: "admin", as: :admin).inside("posts/", as: :post)

    assert_equal ["/admin/posts/log", "/admin/posts", "/admin/posts(.:format)"],
      ["log", "/", "(.:format)"].map { |path| scope.path_of(path) }
    assert_equal "admin/log#index", scope.target("log#index")
    assert_equal :admin_post_log, scope.name_of(:log)
  end

  def test_the_name_of_an_action_goes_first
    scope = Pelton::Web::Routes::Scope.new.inside("/admin", as: :admin).inside("/posts", as: :post, action_first: true)

    assert_equal %i[publish_admin_post admin_post], [scope.name_of(:publish), scope.name_of([])]
  end

  def test_constraints_and_guards_add_up
    guard = ->(_) { true }
    scope =
      Pelton::Web::Routes::Scope.new.inside(constraints: {id: /\d/}).inside(constraints: guard)
        .inside(constraints: {name: /x/})

    assert_equal({id: /\d/, name: /x/}, scope.constraints)
    assert_equal [guard], scope.guards
  end
end
