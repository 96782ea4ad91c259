# frozen_string_literal: true

require "tmpdir"
require "pelton/http"

# nginx with a server block of a guide, in front of a server of Pelton's on a UNIX socket.
module BehindNginx
  NGINX = %w[/usr/sbin/nginx /usr/bin/nginx].find { |path| File.executable?(path) }

  AROUND = <<~NGINX
    daemon off;
    master_process off;
    pid pid;
    error_log error.log;
    events {}
    http {
      access_log off;
      client_max_body_size 0;
      client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
    %s}
  NGINX

  # The text of a guide.
  def self.guide(name) = File.read(File.join(PeltonTest::ROOT, "docs/guides/#{name}.md"), encoding: "UTF-8")

  private

  # Yields nginx's "host:port", and the server.
  def behind_nginx(configuration, app, **options)
    skip "no nginx" unless NGINX
    Dir.mktmpdir do |folder|
      File.chmod(0o755, folder)
      place = "127.0.0.1:#{free_port}"
      block = configuration.sub(%r{unix:/run/shop/\w+\.sock}, "unix:#{folder}/app").sub("listen 443 ssl",
        "listen #{place}")
      File.write("#{folder}/nginx.conf", format(AROUND, block))
      pid = Process.spawn(NGINX, "-p", folder, "-c", "#{folder}/nginx.conf", "-g", "user root;", err: File::NULL)
      Pelton.run do
        server = Pelton::HTTP::Server.new(app, **options)
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

  # By a POST, of which a cache learns nothing.
  def served?(place)
    Pelton::HTTP.post("http://#{place}/", body: "").ok?
  rescue Pelton::Error
    nil
  end
end
