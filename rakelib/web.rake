# frozen_string_literal: true

namespace :web do
  desc "Compare the router with a slow model of its rule; ROUTES_SEED=n makes the same tables of routes again"
  task :routes, [:tables] => :compile do |_, arguments|
    test = "pelton-web/test/routes/router_test.rb"
    sh({"ROUTE_TABLES" => arguments[:tables] || "100000"}, RbConfig.ruby, "-Itest", "-Ilib", "-Ipelton-web/lib", test,
      "-n", "test_random_routes_against_a_model")
  end
end
