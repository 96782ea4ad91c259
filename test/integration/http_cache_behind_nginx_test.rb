# frozen_string_literal: true

require "tmpdir"
require_relative "../test_helper"
require "pelton/http"

# The cache of public responses behind nginx, as each guide sets it up.
class HTTPCacheBehindNginxTest < PeltonTest
  NGINX = %w[/usr/sbin/nginx /usr/bin/nginx].find { |path| File.executable?(path) }

  AROUND = <<~NGINX
    daemon off;
    master_process off;
    pid pid;
    error_log error.log;
    events {}
    http {
      access_log off;
      client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
    %s}
  NGINX

  def self.guide(name) = File.read(File.join(ROOT, "docs/guides/#{name}.md"), encoding: "UTF-8")

  SITE = guide("web_deployment")[/^    upstream shop.*?^    \}\n/m]

  SERVERS = {
    "http_server" => guide("http_server")[/^```nginx\n(.*?)^```/m, 1],
    "web_deployment" => SITE,
    # Lines for a location, such as that of the server above.
    "web_security" => SITE.gsub(/^ +proxy_set_header (?!Upgrade|Connection).*\n/, "").sub("proxy_http_version") { guide("web_security")[/(?:^    proxy_set_header.*\n)+/] + "proxy_http_version" }
  }.freeze

  PAGE = ("<p>the same for everybody</p>" * 50).freeze

  SERVERS.each do |name, configuration|
    define_method(:"test_as_#{name}_sets_it_up") do
      skip "no nginx" unless NGINX
      assert_operator configuration.scan("proxy_set_header").size, :>=, 5
      behind_nginx(configuration) do |place, server|
        client = Pelton::HTTP::Client.new("http://#{place}/")
        browser = {"user-agent" => "Mozilla/5.0", "accept" => "text/html", "accept-language" => "en", "accept-encoding" => "gzip", "sec-fetch-site" => "none", "referer" => "http://#{place}/"}
        answers = Array.new(102) { |number| client.get("/page", headers: browser.merge("user-agent" => "Mozilla/#{number}")) }

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
    [200, {"content-type" => "text/html", "cache-control" => "public, max-age=60", "x-request-id" => env["HTTP_X_REQUEST_ID"] || "none"}, [PAGE]]
  end

  def behind_nginx(configuration)
    @calls = []
    Dir.mktmpdir do |folder|
      File.chmod(0o755, folder)
      place = "127.0.0.1:#{free_port}"
      server = configuration.sub(%r{unix:/run/shop/\w+\.sock}, "unix:#{folder}/app").sub("listen 443 ssl", "listen #{place}")
      File.write("#{folder}/nginx.conf", format(AROUND, server))
      pid = Process.spawn(NGINX, "-p", folder, "-c", "#{folder}/nginx.conf", "-g", "user root;", err: File::NULL)
      Pelton.run do
        server = Pelton::HTTP::Server.new(method(:application), cache: 8 << 20)
        server.listen("unix://#{folder}/app")
        eventually("nginx") { served?(place) }
        yield place, server
        Pelton.stop
      end
    ensure
      Process.kill(:KILL, pid)
      Process.wait(pid)
    end
  end

  # By a POST, of which the cache learns nothing.
  def served?(place)
    Pelton::HTTP.post("http://#{place}/", body: "").ok?
  rescue Pelton::Error
    nil
  end
end
