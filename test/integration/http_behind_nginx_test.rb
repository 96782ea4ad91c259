# frozen_string_literal: true

require "tmpdir"
require_relative "../test_helper"
require "pelton/http"

# The server behind nginx, as docs/guides/http_server.md sets it up.
class HTTPBehindNginxTest < PeltonTest
  NGINX = %w[/usr/sbin/nginx /usr/bin/nginx].find { |path| File.executable?(path) }
  GUIDE = File.read(File.join(ROOT, "docs/guides/http_server.md"), encoding: "UTF-8")[/^```nginx\n(.*?)^```/m, 1]

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

  APP = lambda do |env|
    case env["PATH_INFO"]
    when "/socket" then Pelton::HTTP::WebSocket.accept(env) { |socket| socket.each { |message| socket.write("you said #{message}") } }
    when "/events" then Pelton::HTTP::EventStream.new { |stream| stream.emit("now") && sleep }.then { |events| [200, events.headers, events] }
    when "/upload" then [200, {}, [env["rack.input"].read.sum.to_s]]
    when "/slow" then sleep(0.01).then { [200, {}, ["slept"]] }
    else [200, {}, [env.values_at("HTTP_HOST", "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_CONNECTION").join(" ")]]
    end
  end

  def test_the_guides_configuration
    skip "no nginx" unless NGINX
    behind_nginx do |place|
      client = Pelton::HTTP::Client.new("http://#{place}/")
      upload = Random.new(3).bytes(3_000_000)

      assert_equal "#{place} 127.0.0.1 http ", client.get("/").body
      assert_equal upload.sum.to_s, client.post("/upload", body: upload).body
      assert_equal ["slept"], Array.new(100) { Pelton.spawn { client.get("/slow").body } }.map(&:await).uniq
      assert_equal ["data: now\n\n", "you said hello"], [first_event(client), said_by_websocket(place)]
    end
  end

  private

  def behind_nginx
    Dir.mktmpdir do |folder|
      File.chmod(0o755, folder)
      place = "127.0.0.1:#{free_port}"
      guide = GUIDE.sub("/run/shop/app.sock", "#{folder}/app").sub("listen 443 ssl", "listen #{place}")
      File.write("#{folder}/nginx.conf", format(AROUND, guide))
      pid = Process.spawn(NGINX, "-p", folder, "-c", "#{folder}/nginx.conf", "-g", "user root;", err: File::NULL)
      Pelton.run do
        Pelton::HTTP::Server.new(APP).listen("unix://#{folder}/app")
        eventually("nginx") { served?(place) }
        yield place
        Pelton.stop
      end
    ensure
      Process.kill(:KILL, pid)
      Process.wait(pid)
    end
  end

  def served?(place)
    Pelton::HTTP.get("http://#{place}/").ok?
  rescue Pelton::Error
    nil
  end

  def first_event(client)
    received = +""
    client.get("/events", stream: true).each { |piece| break received if (received << piece).end_with?("\n\n") }
  end

  def said_by_websocket(place)
    socket = Pelton::HTTP::WebSocket.connect("ws://#{place}/socket", headers: {"origin" => "https://#{place}"})
    socket.write("hello")
    socket.receive
  ensure
    socket&.close
  end
end
