# frozen_string_literal: true

require "test_helper"
require "zlib"
require "pelton/lab"
require "pelton/lab/web/edge_servers"
require_relative "installed_servers"

# Each server that is installed answers by TLS what the experiment edge asks for.
class LabEdgeServersTest < PeltonTest
  include InstalledServers

  self.deadline = 120

  PLAIN = {"Accept-Encoding" => "identity"}.freeze

  def answers(name, **environment)
    Pelton::Lab::EdgeServers.open do |servers|
      servers.serve(servers.public_send(name), environment: environment.transform_keys(&:to_s)) do |server|
        page = server.get("/page/100", {"Accept-Encoding" => "gzip"})

        assert_equal Edge::HELLO, server.get("/hello", PLAIN).body
        assert_equal Edge.page(100), Zlib.gunzip(page.body)
        assert_equal Edge.asset, server.get(Edge::ASSET_PATH, PLAIN).body
        assert_equal Edge.file, server.get("/file", PLAIN).body
        assert_equal [Edge.page(10)], Array.new(3) { server.get("/public", PLAIN).body }.uniq
        yield server if block_given?
      end
    end
  end

  def test_pelton
    answers(:pelton, SENDFILE: "x-sendfile") do |server|
      assert_equal 1, server.processes
      assert server.get("/public", PLAIN)["age"]
    end
  end

  def test_thruster
    needs(gem: "thruster", with: %w[puma])
    skip "the gem thruster has no program for this machine" unless Pelton::Lab::EdgeServers.thrust
    answers(:thruster, SENDFILE: "x-sendfile", STATIC: "1") do |server|
      assert_equal 2, server.processes
      assert_equal "hit", server.get("/public", PLAIN)["x-cache"]
    end
  end

  def test_nginx_and_puma
    needs(program: "nginx")
    needs(gem: "puma")
    answers(:nginx_and_puma, SENDFILE: "x-accel-redirect") do |server|
      assert_operator server.processes, :>=, 3
    end
  end

  def test_falcon
    needs(gem: "falcon")
    answers(:falcon, STATIC: "1", DEFLATE: "1")
    Pelton::Lab::EdgeServers.open do |servers|
      servers.serve(servers.falcon(cache: true)) do |server|
        assert_equal [nil, "hit"], Array.new(2) { server.get("/public", PLAIN)["x-cache"] }
      end
    end
  end

  def test_nginx
    needs(program: "nginx")
    answers(:nginx)
  end

  def test_the_rails_application
    needs(gem: "rails", with: %w[puma sqlite3])
    environment = {"POOL" => "3", "RAILS_ENV" => "production"}
    {
      pelton: {"RAILTIE" => "pelton/rails"},
      nginx_and_puma: {"STATIC" => "1"},
      falcon: {"STATIC" => "1", "DEFLATE" => "1", "FIBERS" => "1"}
    }.each do |name, own|
      Pelton::Lab::EdgeServers.open("edge_rails") do |servers|
        servers.serve(servers.public_send(name), environment: {**environment, **own}) do |server|
          page = Zlib.gunzip(server.get("/articles?page=10", {"Accept-Encoding" => "gzip"}).body)

          assert_in_delta 30_720, page.bytesize, 4000, name.to_s
          assert_equal Edge::ASSETS, page.scan(/(?:href|src)="(\/assets\/[^"]+)"/).flatten, name.to_s
          assert_equal [Edge.asset], Edge::ASSETS.map { |path| server.get(path, PLAIN).body }.uniq, name.to_s
        end
      end
    end
  end
end
