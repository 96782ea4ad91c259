# frozen_string_literal: true

require_relative "requests"

# Applications made of routes alone: each answers its number or its name and the path's variables.
module WebRouting
  include WebRequests

  # @return [Class] an application with these routes
  def application(&block)
    Class.new(Pelton::Web::Application) do
      settings.hosts = nil
      routes(&block)
    end
  end

  # @return [#call] a target that answers its name and the path's variables
  def target(name)
    Target.new(name)
  end

  Target = Struct.new(:name) do
    def call(env) = [200, {"content-type" => "text/plain"}, ["#{name} #{env["PATH_INFO"]}"]]
  end

  # @return [Pelton::Web::Routes::Router] whose endpoints answer their pattern and the path's variables, as before Ruby
  #   3.4
  def router(&block)
    routes = Pelton::Web::Routes.new.tap { |all| all.instance_exec(&block) }
    endpoints = routes.list.map do |route|
      [route,
        route.guard(->(_env, captures) do
          [200, {"content-type" => "text/plain"}, [[route.verb, route, captures].compact.join(" ").gsub(" => ", "=>")]]
        end)]
    end
    Pelton::Web::Routes::Router.new(endpoints, routes.mounts)
  end

  # @return [String] what the router answers to GET
  def get(app, path, **options) = request(app, "GET", path, **options).body
end
