# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/behind_nginx"

# The cache of public responses behind nginx, as each guide sets it up.
class HTTPCacheBehindNginxTest < PeltonTest
  include BehindNginx

  SITE = BehindNginx.guide("web_deployment")[/^    map .*?^    \}\n/m]

  SERVERS = {
    "http_server" => BehindNginx.guide("http_server")[/^```nginx\n(.*?)^```/m, 1],
    "web_deployment" => SITE,
    # Lines for a location, such as that of the server above.
    "web_security" => SITE.gsub(/^ +proxy_set_header (?!Upgrade|Connection).*\n/,
      "").sub("proxy_http_version") do
        BehindNginx.guide("web_security")[/(?:^    proxy_set_header.*\n)+/] + "proxy_http_version"
      end
  }.freeze

  PAGE = ("<p>the same for everybody</p>" * 50).freeze

  SERVERS.each do |name, configuration|
    define_method(:"test_as_#{name}_sets_it_up") do
      assert_operator configuration.scan("proxy_set_header").size, :>=, 5
      @calls = []
      behind_nginx(configuration, method(:application), cache: 8 << 20) do |place, server|
        client = Pelton::HTTP::Client.new("http://#{place}/")
        browser = {"user-agent" => "Mozilla/5.0", "accept" => "text/html", "accept-language" => "en",
                   "accept-encoding" => "gzip", "sec-fetch-site" => "none", "referer" => "http://#{place}/"}
        answers = Array.new(102) do |number|
          client.get("/page", headers: browser.merge("user-agent" => "Mozilla/#{number}"))
        end

        assert_equal [PAGE], answers.map(&:body).uniq
        assert_equal 100, server.stats[:cache_hits]
        assert_equal 100, answers.count { |answer| answer.headers["age"] }
        assert_equal 2, @calls.size
        assert_equal [nil, nil], @calls.last.values_at("HTTP_X_REQUEST_ID", "HTTP_X_FORWARDED_FOR")
        ids = answers.map { |answer| answer.headers["x-request-id"] }

        assert_equal 100, ids.drop(2).count(nil)
      end
    end
  end

  private

  def application(env)
    @calls << env if env["PATH_INFO"] == "/page"
    [200, {
      "content-type" => "text/html",
      "cache-control" => "public, max-age=60",
      "x-request-id" => env["HTTP_X_REQUEST_ID"] || "none"
    }, [PAGE]]
  end
end
