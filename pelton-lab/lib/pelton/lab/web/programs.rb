# frozen_string_literal: true

require "rbconfig"
require_relative "../installation"
require_relative "../programs"

module Pelton
  module Lab
    # How to start the web servers that the lab compares: each method returns a Proc that {WebServer.serve} calls for
    # the command line. Rack servers are given the path of a rackup file. Those in Ruby are started by a line of Ruby,
    # because a bundle's gems are on the load path while its executables are not installed anywhere.
    module WebPrograms
      ARTICLES = File.expand_path("../../../../examples/articles", __dir__)

      class << self
        # @param at [String] the address to listen on, here and below; PORT stands for the port
        def pelton(app, *options, at: "tcp://127.0.0.1:PORT")
          lambda do |port, _|
            [RbConfig.ruby, "-I", Installation::LIBRARIES, Installation::COMMAND, "serve", "--quiet", *options, "-b",
              at.sub("PORT", port.to_s), app]
          end
        end

        def puma(app, threads: 5, workers: 0, at: "tcp://127.0.0.1:PORT")
          lambda do |port, _|
            ruby('require "puma/cli"; Puma::CLI.new(ARGV).run', "-q", "-w", workers.to_s, "-t", "#{threads}:#{threads}",
              "-e", "production", "-b", at.sub("PORT", port.to_s), "-C", "-", app)
          end
        end

        def falcon(app, *options, workers: 1, at: "http://127.0.0.1:PORT")
          lambda do |port, _|
            ruby('require "falcon/command"; Falcon::Command.call(ARGV)', "serve", "-n", workers.to_s, *options, "-b",
              at.sub("PORT", port.to_s), "-c", app)
          end
        end

        def thin(app, *options)
          lambda do |port, _|
            ruby('require "thin"; Thin::Runner.new(ARGV).run!', "start", "-q", "-e", "production", "-a", "127.0.0.1",
              "-p", port.to_s,
              "--max-conns", "20000", "--max-persistent-conns", "20000", *options, "-R", app)
          end
        end

        def iodine(app)
          lambda do |port, _|
            ruby('require "rack"; require "rack/builder"; require "iodine"; app = Rack::Builder.parse_file(ARGV[1]); ' \
              'Iodine.threads = Iodine.workers = 1; Iodine.listen(service: :http, address: "127.0.0.1", port: ' \
              "ARGV[0], " \
              "handler: app.is_a?(Array) ? app[0] : app, log: false); Iodine.start", port.to_s, app)
          end
        end

        # Its defaults answer 503 to more than thirty requests at a time, and close a connection that is idle for a
        # second.
        def itsi(app, threads: 1, workers: 1)
          lambda do |port, _|
            ruby('require "itsi/server"; Itsi::Server.start({binds: ["http://127.0.0.1:#{ARGV[0]}"], rackup_file: ' \
              "ARGV[1], " \
              "workers: #{workers}, threads: #{threads}, ruby_thread_request_backlog_size: 20_000, " \
              "header_read_timeout: 600.0})", port.to_s, app)
          end
        end

        # A program of examples/articles, on EventMachine or, as a user would run it, on Pelton.
        # @param on [Symbol] :eventmachine or :pelton
        # @param instead [Hash{#to_s => #to_s}] replacements for texts of the program
        def article(name, printed_port, on:, instead: {})
          path = File.join(ARTICLES, "#{name}.rb")
          lambda do |port, _|
            source =
              {printed_port => port, **instead}
                .reduce(File.read(path).sub("0.0.0.0", "127.0.0.1")) { |text, (from, to)| text.sub(from.to_s, to.to_s) }
            ruby(source, library: (["-I", Installation::LIBRARIES, "-r", "pelton/eventmachine"] if on == :pelton))
          end
        end

        # @param script [String] the program; its argument is the port
        def node(script)
          ->(port, _) { ["node", "-e", script, port.to_s] }
        end

        # One worker of nginx.
        # @param location [String] the content of the server's block
        # @param upstream [String] the blocks before it
        def nginx(location, upstream: "", protocol: "")
          lambda do |port, folder|
            File.write(path = File.join(folder, "nginx.conf"), <<~NGINX)
              daemon off; #{"user root;" if Process.uid.zero?} worker_processes 1; pid #{folder}/pid; error_log stderr crit;
              events { worker_connections 20000; }
              http {
                access_log off; keepalive_requests 100000000; default_type text/plain; client_max_body_size 0;
                client_body_temp_path #{folder}/b; proxy_temp_path #{folder}/p; fastcgi_temp_path #{folder}/f;
                uwsgi_temp_path #{folder}/u; scgi_temp_path #{folder}/s;
                #{upstream}
                server { listen 127.0.0.1:#{port} #{protocol} backlog=4096; #{location} }
              }
            NGINX
            [Programs.find("nginx"), "-c", path, "-p", folder]
          end
        end

        # One worker of nginx that serves one file at any path, and compresses it where the client takes that.
        # @param content [String]
        def nginx_page(content)
          lambda do |port, folder|
            File.binwrite(File.join(folder, "page.html"), content)
            nginx("gzip on; sendfile on; open_file_cache max=10; default_type text/html; root #{folder}; location / " \
              "{ try_files /page.html =404; }")
              .call(port, folder)
          end
        end

        # One worker of nginx as a proxy of a server that answers with a text. That server is in the same process, on a
        # UNIX socket.
        def nginx_proxy(text)
          nginx("location / { proxy_pass http://static; proxy_http_version 1.1; proxy_set_header Connection \"\"; }",
            upstream: "upstream static { server unix:static; keepalive 64; } server { listen unix:static; location / " \
              "{ return 200 \"#{text}\"; } }")
        end

        # A Redis whose data is in memory alone.
        def redis
          ->(port, folder) do
            [Programs.find("redis-server"), "--port", port.to_s, "--bind", "127.0.0.1", "--save", "", "--dir", folder]
          end
        end

        # The path of one of the lab's applications: a rackup file, unless `kind` names another extension.
        def application(name, kind = "ru")
          File.expand_path("../applications/#{name}.#{kind}", __dir__)
        end

        private

        def ruby(program, *arguments, library: nil)
          [RbConfig.ruby, *library, "-e", program, "--", *arguments]
        end
      end
    end
  end
end
