# frozen_string_literal: true

require "tmpdir"
require_relative "../support/certificates"
require_relative "../support/http/peer"
require_relative "../support/running_program"

# The client talks HTTP/2 to other servers, and to this one.
class Http2ServersTest < PeltonTest
  include HttpPeer
  include RunningPrograms

  def setup
    super
    skip "Pelton is built without HTTP/2" unless Pelton::HTTP.http2?
  end

  def test_pelton
    app = ->(env) do
      [200, {"content-type" => "text/plain"},
        ["#{env["SERVER_PROTOCOL"]} #{env["PATH_INFO"]} #{env["rack.input"].read.sum}"]]
    end
    serving(app) do
      @port = @server.listen("ssl://127.0.0.1:0", tls: Certificates.server.to_h).port
      bodies = Array.new(1000) { |number| Pelton.spawn { client.get("/#{number}").body } }.map(&:await)

      assert_equal Array.new(1000) { |number| "HTTP/2 /#{number} 0" }, bodies
      assert_equal "HTTP/2 / #{upload.sum}", client.post("/", body: upload).body
      assert_equal "HTTP/2 / #{upload.sum}", client.post("/", body: StringIO.new(upload), expect: 1).body
      assert_equal 1, @server.stats[:http2_connections]
    end
  end

  # It ends the connection after each 100 requests.
  def test_nginx
    skip "no nginx" unless (nginx = program("nginx"))
    in_a_folder do |folder|
      File.write("#{folder}/nginx.conf", <<~CONF)
        daemon off; pid #{folder}/pid; error_log #{folder}/error.log; events {}
        http {
          access_log off; client_body_temp_path #{folder}/body; client_max_body_size 10m; keepalive_requests 100; default_type text/plain;
          proxy_temp_path #{folder}/proxy; fastcgi_temp_path #{folder}/fastcgi; uwsgi_temp_path #{folder}/uwsgi; scgi_temp_path #{folder}/scgi;
          gzip on; gzip_types *; gzip_min_length 1;
          server {
            listen 127.0.0.1:#{@port} ssl http2; ssl_certificate #{folder}/certificate.pem; ssl_certificate_key #{folder}/key.pem;
            root #{folder};
            location /protocol { return 200 "$server_protocol"; }
            location /moved { return 302 /protocol; }
          }
        }
      CONF
      with_server(folder, nginx, "-p", folder, "-c", "#{folder}/nginx.conf", "-e", "#{folder}/error.log") { check }
    end
  end

  def test_nghttpd
    skip "no nghttpd" unless (nghttpd = program("nghttpd"))
    in_a_folder do |folder|
      File.write("#{folder}/protocol", "HTTP/2.0")
      with_server(folder, nghttpd, "-a", "127.0.0.1", "-d", folder, @port.to_s,
        "#{folder}/key.pem", "#{folder}/certificate.pem") do
        check(redirects: false)
      end
    end
  end

  private

  def check(redirects: true)
    assert_equal "HTTP/2.0", client.get("/protocol").body
    assert_equal "HTTP/2.0", client.get("/moved").body if redirects
    assert_equal "", client.head("/large").body
    assert_equal 404, client.get("/nothing").status
    assert_equal @large.sum, client.get("/large").body.b.sum
    assert_equal @large.sum, client.get("/large", stream: true).each.to_a.join.sum
    assert_equal ["HTTP/2.0"], Array.new(1000) { Pelton.spawn { client.get("/protocol").body } }.map(&:await).uniq
    assert_includes [200, 405], client.post("/protocol", body: upload).status # nginx answers before the body has come
    assert_equal "HTTP/2.0", client.get("/protocol").body
  end

  def client
    @client ||= Pelton::HTTP::Client.new("https://localhost:#{@port}", tls: {ca_file: Certificates.authority})
  end

  def upload = @upload ||= Random.new(5).bytes(3_000_000)

  def in_a_folder
    Dir.mktmpdir do |folder|
      identity = Certificates.server
      @port = free_port
      @large = Random.new(6).bytes(5_000_000)
      File.write("#{folder}/certificate.pem", identity.certificate)
      File.write("#{folder}/key.pem", identity.key)
      File.binwrite("#{folder}/large", @large)
      File.chmod(0o755, folder)
      yield folder
    end
  end

  def with_server(folder, *command)
    server = start_program(*command, folder: folder)
    await_program(server) { listens?(@port) }
    Pelton.run { yield }
  ensure
    server&.stop
  end

  def program(name) = [*ENV["PATH"].split(":"), "/usr/sbin"].map { |folder| File.join(folder, name) }.find do |file|
    File.executable?(file)
  end
end
