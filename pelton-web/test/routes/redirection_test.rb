# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebRoutesRedirectionTest < PeltonTest
  def test_to_a_path
    assert_equal [301, {"location" => "/new"}, []], redirect("/old", "/new")
    assert_equal "/app/new/a%20b?x=1",
      location("/old/:id", "/new/:id", {"id" => "a b"}, "SCRIPT_NAME" => "/app", "QUERY_STRING" => "x=1")
    assert_equal "/docs/a/b", location("/old/*rest", "/docs/*rest", {"rest" => "a/b"})
  end

  def test_to_a_url
    assert_equal "https://a.example/x?y=1", location("/old", "https://a.example/x?y=1", {}, "QUERY_STRING" => "z=2")
  end

  def test_the_client_cannot_choose_another_host
    {"/*rest" => ["/evil.example", "//evil.example", "../x", "a/../b"], "/:rest" => ["..", "."]}.each do |path, values|
      values.each { |value| assert_nil location("/old#{path}", path, {"rest" => value}), value }
    end
    assert_equal "/%2Fevil.example", location("/old/:rest", "/:rest", {"rest" => "/evil.example"})
    assert_equal "/%5Cevil.example", location("/old/*rest", "/*rest", {"rest" => "\\evil.example"})
    assert_equal "/a%0D%0Ab", location("/old/:rest", "/:rest", {"rest" => "a\r\nb"})
  end

  def test_mistakes
    [["/old", "/new/:id"], ["/old", "//evil.example"], ["/old", "new"], ["/old/:host", "https://:host/"],
      ["/old", nil]].each do |path, to|
      assert_raises(Pelton::Web::ConfigurationError, to.inspect) { redirect(path, to) }
    end
    assert_raises(Pelton::Web::ConfigurationError) { redirect("/old", "/new", status: 200) }
  end

  private

  def redirect(path, to, captures = {}, status: 301, **env)
    Pelton::Web::Routes::Redirection.new(path, to, status)
      .call({"QUERY_STRING" => ""}.merge(env.transform_keys(&:to_s)), captures)
  end

  def location(...) = redirect(...)&.at(1)&.fetch("location")
end
