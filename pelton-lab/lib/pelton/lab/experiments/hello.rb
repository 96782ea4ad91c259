# frozen_string_literal: true

require "digest"
require "json"
require "pelton/lab/web"

# The cost of a web server where the application costs nothing. The contender is a server, alone on its core; wrk is on
# the other one.
Pelton::Lab.web_experiment "hello" do |programs|
  about "hello world by wrk, with 8 to 4,096 connections: Pelton's server against nginx, iodine, Puma, Falcon and node"

  app = programs.application("hello")
  hello = "Hello World!"
  static = programs.nginx("location / { return 200 \"#{hello}\"; }")

  # Starts a server and measures it under wrk's load, see {WebLoad#wrk}.
  serve = lambda do |run, command, path = "/", **load|
    Pelton::Lab::WebServer.serve(command) do |server|
      check = -> { server.get(path).then { |answer| run.expect(["200", hello], [answer.code, answer.body]) } }
      check.call
      run.measure_server(server) { Pelton::Lab::WebLoad.new(run).wrk(server.url(path), seconds: run.size, **load) }
      check.call
    end
  end

  # Rounds of a second or two, since all servers stay while the others are measured.
  rounds = {rounds: 12, rounds_per_process: 6, rehearsal: 1, full: 5, unit: "s"}

  # All servers. The rounds of Puma are few unless a target rests on them.
  contenders = lambda do |race, few: 3, **load|
    race.server { Pelton::Lab::WebLoad.program("wrk") }
    race.also :cpu_us_per_operation, "CPU us/op"

    race.baseline("nginx, return 200", style: "callback", program: "nginx") { |run| serve.call(run, static, **load) }
    race.contender("Pelton", style: "direct") { |run| serve.call(run, programs.pelton(app), **load) }
    race.contender("iodine", style: "callback", gem: "iodine", rounds: few) do |run|
      serve.call(run, programs.iodine(app), **load)
    end
    race.contender("Puma, 5 threads", style: "blocking", gem: "puma", rounds: few, extra: !few.nil?) do |run|
      serve.call(run, programs.puma(app), **load)
    end
    race.contender("Falcon", style: "direct", gem: "falcon", rounds: 3, extra: !few.nil?) do |run|
      serve.call(run, programs.falcon(app), **load)
    end
    race.contender "node", style: "callback", program: "node", rounds: 3, extra: !few.nil? do |run|
      serve.call(run, programs.node(<<~JAVASCRIPT), **load)
        require("http").createServer((request, response) => {
          response.writeHead(200, { "content-type": "text/plain", "content-length": 12 });
          response.end("Hello World!");
        }).listen({ port: +process.argv[1], host: "127.0.0.1", backlog: 4096 });
      JAVASCRIPT
    end
  end

  # A share of nginx's requests/s is the inverse of the time.
  race "keep-alive", size: {apart: 1}, **rounds do
    about "twelve bytes, asked for again and again on 64 connections that stay open"
    contenders.call(self, few: nil)

    # A request takes 21,600 instructions outside the kernel, nginx's 9,700 (callgrind). Half of them are libruby's:
    # Rack's env and other objects. In the kernel both do the same.
    target 11, "hello world: CPU a request / nginx", of: "Pelton", at_most: 1.1, metric: :cpu_us_per_operation
    target 12, "hello world, 64 connections: time a request / nginx (0.85 of its requests/s; idle machine: 0.95)",
      of: "Pelton", at_most: 1 / 0.85
    target 12, "the same / Puma (4.7 of its requests/s)", of: "Pelton", to: "Puma, 5 threads", at_most: 0.213, digits: 3
  end

  {"8" => [8, "there is little to do at a time", 1, 0.70, 0.80], "512" => [512, "many at a time", 1, 0.90, 1.00],
   "4,096" => [4_096, "which wrk opens anew in each round", 2, 0.95,
     1.05]}.each do |number, (connections, remark, seconds, share, idle)|
    race "#{number} connections", size: {apart: seconds}, **rounds do
      about "the same on #{name}: #{remark}"
      contenders.call(self, connections:)
      target 12, "with #{name} / nginx with as many (#{format("%.2f", share)}; idle machine: #{format("%.2f", idle)})",
        of: "Pelton", at_most: 1 / share
    end
  end

  race "new connections", size: {apart: 1}, **rounds do
    about "twelve bytes on 64 connections, of which each ends after ten requests on average, and is replaced by a " \
      "new one"
    contenders.call(self, requests_per_connection: 10)
    target 27, "hello world, a new connection for every 10 requests: time a request / nginx (0.7 of its requests/s)",
      of: "Pelton", at_most: 1 / 0.7
  end

  race "HTTP/2", size: {apart: 1}, **rounds do
    about "twelve bytes by HTTP/2 without TLS, on 64 connections with ten requests at once, by h2load"
    server { Pelton::Lab::WebLoad.program("h2load") }
    also :cpu_us_per_operation, "CPU us/op"

    load = lambda do |run, command, **options|
      Pelton::Lab::WebServer.serve(command) do |server|
        run.measure_server(server) do
          Pelton::Lab::WebLoad.new(run).h2load(server.url("/"), seconds: run.size, **options)
        end
      end
    end

    baseline("nginx, return 200", style: "callback", program: "nginx") do |run|
      load.call(run, programs.nginx("location / { return 200 \"#{hello}\"; }", protocol: "http2"))
    end
    contender("Pelton", style: "direct") { |run| load.call(run, programs.pelton(app)) }
    contender("Pelton, a request at once", style: "direct", rounds: 3) do |run|
      load.call(run, programs.pelton(app), streams: 1)
    end
    contender("Pelton, HTTP/1.1", style: "direct", rounds: 3) do |run|
      load.call(run, programs.pelton(app), streams: nil)
    end
  end

  race "a JSON body", size: {apart: 1}, **rounds do
    about "10 KB of JSON are posted, which the handler reads before it answers; nginx passes them on to a static " \
      "upstream in the same process"
    server { Pelton::Lab::WebLoad.program("wrk") }
    also :cpu_us_per_operation, "CPU us/op"

    json = JSON.generate({"list" => "x" * (10_240 - JSON.generate({"list" => ""}).bytesize)})
    reader = programs.application("body")
    post = lambda do |run, command, digest: true|
      Pelton::Lab::WebServer.serve(command) do |server|
        check = lambda do
          run.expect(["200", "10240"], server.post("/json", json).then { |answer| [answer.code, answer.body] })
          if digest
            run.expect(Digest::SHA256.hexdigest(json), server.post("/digest", json).body, "the digest of the body")
          end
        end
        check.call
        run.measure_server(server) do
          Pelton::Lab::WebLoad.new(run).wrk(server.url("/json"), seconds: run.size, post: json)
        end
        check.call
      end
    end

    baseline("nginx, proxy to a static upstream", style: "callback", program: "nginx") do |run|
      post.call(run, programs.nginx_proxy("10240"), digest: false)
    end
    contender("Pelton", style: "direct") { |run| post.call(run, programs.pelton(reader)) }
    contender("Puma, 5 threads", style: "blocking", gem: "puma", rounds: 3) do |run|
      post.call(run, programs.puma(reader))
    end

    target 28, "POST of 10 KB of JSON, read and answered: time a request / nginx's proxy to a static upstream (0.6 " \
      "of its requests/s)",
      of: "Pelton", at_most: 1 / 0.6
  end

  race "a millisecond of CPU", size: {free: 1}, rounds: 8, rounds_per_process: 4, rehearsal: 1, full: 5, unit: "s" do
    about "a handler that computes for a millisecond, in one process and in two"
    server { Pelton::Lab::WebLoad.program("wrk") }

    baseline("Pelton, -w 1", style: "direct") { |run| serve.call(run, programs.pelton(app, "-w", "1"), "/busy") }
    contender("Pelton, -w 2", style: "direct") { |run| serve.call(run, programs.pelton(app, "-w", "2"), "/busy") }
    contender("Puma, -w 1", style: "blocking", gem: "puma", rounds: 3) do |run|
      serve.call(run, programs.puma(app, workers: 1), "/busy")
    end
    contender("Puma, -w 2", style: "blocking", gem: "puma", rounds: 3) do |run|
      serve.call(run, programs.puma(app, workers: 2), "/busy")
    end

    target 26, "1 ms of CPU a request: time with -w 2 / -w 1 (1.8 times the requests/s)", of: "Pelton, -w 2",
      at_most: 0.556, digits: 3
  end
end
