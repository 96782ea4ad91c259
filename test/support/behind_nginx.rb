# frozen_string_literal: true

require "tmpdir"
require "pelton/http"
require_relative "running_program"

# nginx in a folder of its own, such as with a server block of a guide, in front of a server of Pelton's on a UNIX
# socket. For PeltonTests.
module BehindNginx
  include RunningPrograms

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

  # @param configuration [String] all of whose files are in the folder
  # @return [RunningProgram]
  def start_nginx(folder, configuration)
    File.chmod(0o755, folder)
    File.write("#{folder}/nginx.conf", configuration)
    start_program(NGINX, "-p", folder, "-c", "#{folder}/nginx.conf", "-g", "user root;", folder: folder,
      log: "#{folder}/nginx.log")
  end

  # Yields nginx's "host:port", and the server.
  def behind_nginx(configuration, app, **options)
    skip "no nginx" unless NGINX
    Dir.mktmpdir do |folder|
      place = "127.0.0.1:#{free_port}"
      block = configuration.sub(%r{unix:/run/shop/\w+\.sock}, "unix:#{folder}/app").sub("listen 443 ssl",
        "listen #{place}")
      nginx = start_nginx(folder, format(AROUND, block))
      Pelton.run do
        server = Pelton::HTTP::Server.new(app, **options)
        server.listen("unix://#{folder}/app")
        eventually("nginx") { served?(place) }
        yield place, server
        Pelton.stop
      end
    ensure
      nginx&.stop("KILL")
    end
  end

  # By a POST, of which a cache learns nothing.
  def served?(place)
    Pelton::HTTP.post("http://#{place}/", body: "").ok?
  rescue Pelton::Error
    nil
  end
end
