# frozen_string_literal: true

# A handler that says hello, over 64 kept connections, beside nginx's `return 200` and Puma with one thread: requests a second,
# and the server's own CPU time for each. Servers have one core, wrk has the other. Pelton runs twice: as `ruby` starts it, and
# with the stacks and GC limits of `pelton serve`.
#
#   ruby -Ilib benchmark/http_hello.rb     (ROUNDS=7 SECONDS=1; needs nginx, wrk, and the gem puma)

require "rbconfig"
require "tmpdir"
require "pelton/http/command"
require_relative "support/measuring"
require_relative "support/subject"

ROUNDS = Integer(ENV.fetch("ROUNDS", "7"))
ROOT = File.expand_path("..", __dir__)

PELTON = <<~RUBY
  require "pelton/http"
  app = ->(_env) { [200, {"content-type" => "text/plain"}, ["hello\n"]] }
  Pelton.run { Pelton::HTTP::Server.new(app).listen("tcp://127.0.0.1:\#{ARGV[0]}") }
RUBY

PUMA = <<~RUBY
  require "puma"
  require "puma/server"
  app = ->(_env) { [200, {"content-type" => "text/plain"}, ["hello\n"]] }
  server = Puma::Server.new(app, nil, min_threads: 1, max_threads: 1, log_writer: Puma::LogWriter.null)
  server.add_tcp_listener("127.0.0.1", ARGV[0].to_i)
  server.run.join
RUBY

NGINX = <<~TEXT
  daemon off; worker_processes 1; pid DIR/pid; error_log DIR/error;
  events { worker_connections 1024; }
  http { access_log off; keepalive_requests 100000000; client_body_temp_path DIR; proxy_temp_path DIR; fastcgi_temp_path DIR;
    uwsgi_temp_path DIR; scgi_temp_path DIR; default_type text/plain;
    server { listen 127.0.0.1:PORT; location / { return 200 "hello\n"; } } }
TEXT

Dir.mktmpdir do |dir|
  ruby = [RbConfig.ruby, "-I#{ROOT}/lib"]
  as_served = Pelton::Stacks::SIZES.merge(Pelton::HTTP::Command::GARBAGE)
  subjects = [
    Subject.new("nginx") do |port|
      File.write("#{dir}/nginx.conf", NGINX.gsub("DIR", dir).sub("PORT", port.to_s))
      ["nginx", "-c", "#{dir}/nginx.conf", "-e", "#{dir}/error"]
    end,
    Subject.new("pelton", {}, *ruby, "-e", PELTON, "PORT"),
    Subject.new("pelton, as served", as_served, *ruby, "-e", PELTON, "PORT"),
    Subject.new("puma 1:1", {}, RbConfig.ruby, "-e", PUMA, "PORT")
  ]
  subjects.each(&:measure) # warms up
  subjects.each { |subject| [subject.rates, subject.costs].each(&:clear) }
  ROUNDS.times { subjects.each(&:measure) }

  nginx = subjects.first
  puts "                   requests/s    / nginx       CPU us      / nginx"
  subjects.each do |subject|
    puts format("%-18s %10d %10.2f %12.1f %12.2f", subject.name, median(subject.rates),
      median(subject.rates.zip(nginx.rates).map { |own, other| own / other }), median(subject.costs) * 1e6,
      median(subject.costs.zip(nginx.costs).map { |own, other| own / other }))
  end
end
