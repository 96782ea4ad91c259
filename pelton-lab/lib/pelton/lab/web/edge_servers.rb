# frozen_string_literal: true

require "openssl"
require "shellwords"
require_relative "../applications/edge"
require_relative "../programs"
require_relative "programs"
require_relative "server"

module Pelton
  module Lab
    # The servers of the experiment edge, with all that stands between clients and the application: TLS, HTTP/2,
    # compression, files, a cache. Each method returns what {WebPrograms}' methods do. All have one certificate but
    # Falcon, which makes its own.
    class EdgeServers
      NAME = "edge.example" # in the certificate, beside 127.0.0.1
      THREADS = 3 # Puma's in a new Rails application

      # Yields the servers, and removes their files afterwards.
      # @param application [String] the name of the application before which they stand
      def self.open(application = "edge")
        Dir.mktmpdir("pelton-lab") { |folder| yield new(folder, application) }
      end

      # @return [String, nil] the path of Thruster's program; nil where the gem has none for this machine
      def self.thrust
        library = $LOAD_PATH.resolve_feature_path("thruster/version")&.last ||
          File.join(Gem::Specification.find_by_name("thruster").gem_dir, "lib/thruster/version.rb")
        Dir[File.expand_path("../../../exe/*/thrust", library)].find { |path| File.executable?(path) }
      rescue Gem::MissingSpecError
        nil
      end

      # @param folder [String] an empty one
      # @param application [String]
      def initialize(folder, application)
        @folder = folder
        @application = WebPrograms.application(application)
        Edge.write(folder)
        write_certificate
      end

      # Starts one of them, and yields it as soon as the application answers, which may be later than it accepts.
      # @param environment [Hash{String => String}] of {Edge}'s application
      def serve(command, environment: {}, deadline: 60)
        WebServer.serve(command, environment: {"FOLDER" => @folder, **environment}, deadline:, name: NAME) do |server|
          server.await_answer("/hello", deadline)
          yield server
        end
      end

      def pelton
        WebPrograms.pelton(@application, "--gzip", "--gzip-cookies", "--cache", "64M", "--public", "#{@folder}/public",
          "--x-sendfile", "#{@folder}/files", at: "ssl://127.0.0.1:PORT?cert=#{certificate}&key=#{key}")
      end

      # Thruster takes no certificate, but looks for one that it has got before.
      # @raise [Unavailable] where there is no Thruster for this machine
      def thruster
        thrust = self.class.thrust or raise Unavailable, "the gem thruster has no program for this machine"
        lambda do |port, folder|
          storage = File.join(folder, "storage")
          Dir.mkdir(storage)
          [NAME, "127.0.0.1"].each do |name|
            File.write(File.join(storage, name), File.read(key) + File.read(certificate))
          end
          inner = Programs.free_port
          ["env", "TLS_DOMAIN=#{NAME},127.0.0.1", "STORAGE_PATH=#{storage}", "ACME_DIRECTORY=https://127.0.0.1:1/",
            "HTTPS_PORT=#{port}", "HTTP_PORT=#{Programs.free_port}", "TARGET_PORT=#{inner}", "LOG_REQUESTS=false",
            thrust, *puma(at: "tcp://127.0.0.1:#{inner}").call(inner, folder)]
        end
      end

      # One worker of nginx before Puma, on a UNIX socket.
      def nginx_and_puma
        lambda do |port, folder|
          nginx = WebPrograms.nginx(<<~NGINX, upstream: <<~UPSTREAM, protocol: "ssl http2").call(port, folder)
            #{tls} gzip on; gzip_proxied any; default_type text/html;
            proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
            proxy_set_header X-Forwarded-Proto https; proxy_set_header X-Forwarded-For $remote_addr;
            location /assets/ { root #{@folder}/public; expires max; }
            location /files/ { internal; root #{@folder}; }
            location = /public { proxy_pass http://puma; proxy_cache pages; }
            location / { proxy_pass http://puma; }
          NGINX
            upstream puma { server unix:#{folder}/puma.sock; keepalive 64; }
            proxy_cache_path #{folder}/cache keys_zone=pages:1m;
            sendfile on; open_file_cache max=100;
          UPSTREAM
          puma = puma(at: "unix://#{folder}/puma.sock").call(port, folder)
          ["sh", "-c", "#{puma.shelljoin} & exec #{nginx.shelljoin}"]
        end
      end

      # @param cache [Boolean] without it, since Falcon 0.51 answers with nothing where it has kept a file
      def falcon(cache: false)
        command = WebPrograms.falcon(@application, *("--cache" if cache), at: "https://127.0.0.1:PORT")
        # It keeps its certificate there.
        ->(port, folder) { ["env", "HOME=#{folder}", "XDG_STATE_HOME=#{folder}", *command.call(port, folder)] }
      end

      # One worker of nginx that has all answers as files, and compresses pages.
      def nginx
        WebPrograms.nginx(<<~NGINX, upstream: "sendfile on; open_file_cache max=100;", protocol: "ssl http2")
          #{tls} gzip on; default_type text/html;
          location = /hello { default_type text/plain; return 200 "#{Edge::HELLO}"; }
          location = /file { root #{@folder}/files; default_type application/octet-stream; }
          location /assets/ { root #{@folder}/public; expires max; }
          location / { root #{@folder}/pages; }
        NGINX
      end

      private

      def certificate = "#{@folder}/certificate.pem"

      def key = "#{@folder}/key.pem"

      def tls = "ssl_certificate #{certificate}; ssl_certificate_key #{key};"

      def puma(at:) = WebPrograms.puma(@application, threads: THREADS, at:)

      # A key of P-256, as certificate authorities recommend them.
      def write_certificate
        pair = OpenSSL::PKey::EC.generate("prime256v1")
        one = OpenSSL::X509::Certificate.new
        one.version = 2
        one.serial = 1
        one.subject = one.issuer = OpenSSL::X509::Name.parse("/CN=#{NAME}")
        one.not_before = Time.now - 86_400
        one.not_after = Time.now + 365 * 86_400
        one.public_key = pair
        extensions = OpenSSL::X509::ExtensionFactory.new(one, one)
        one.add_extension(extensions.create_extension("subjectAltName", "DNS:#{NAME},IP:127.0.0.1"))
        one.sign(pair, "SHA256")
        File.write(certificate, one.to_pem)
        File.write(key, pair.to_pem, perm: 0o600)
      end
    end
  end
end
