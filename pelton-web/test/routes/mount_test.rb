# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebRoutesMountTest < PeltonTest
  Mount = Pelton::Web::Routes::Mount

  def test_the_application_sees_the_path_below
    assert_equal ["/a/b", "/c"], call("/b", "/b/c", "/a")
    assert_equal ["/a/b", ""], call("/b/", "/b", "/a")
    assert_equal ["/a", "/c"], call("/", "/c", "/a")
  end

  def test_the_env_of_the_request_stays_as_it_is_but_for_the_route
    env = {"SCRIPT_NAME" => "", "PATH_INFO" => "/b/c"}
    mount = Mount.new(->(inner) { inner["own"] = 1 }, "/b")
    mount.call(env)

    assert_equal({"SCRIPT_NAME" => "", "PATH_INFO" => "/b/c", "pelton.web.route" => mount}, env)
    assert_equal "/b/*", mount.to_s
  end

  def test_only_whole_segments_count
    mount = Mount.new(-> {}, "/b")

    assert_equal [true, true, false, false], ["/b", "/b/c", "/bc", "/%62"].map { |path| mount.takes?(path) }
  end

  def test_mistakes
    [[nil, "/a"], [-> {}, "a"], [-> {}, "/:a"], [-> {}, nil]].each do |app, path|
      assert_raises(Pelton::Web::ConfigurationError, path.inspect) { Mount.new(app, path) }
    end
  end

  private

  def call(at, path, script)
    Mount.new(->(env) { env.values_at("SCRIPT_NAME", "PATH_INFO") },
      at).call("SCRIPT_NAME" => script, "PATH_INFO" => path)
  end
end
