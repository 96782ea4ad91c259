# frozen_string_literal: true

require "pelton/lab/web_load"
require "pelton/lab/web_programs"
require "pelton/lab/web_server"

# What a web server costs when the application costs nothing. The contender is a server, alone on its core; wrk is on the
# other one, with 64 connections that are kept.
Pelton::Lab.experiment "hello" do
  about "hello world by wrk: Pelton's server against nginx, Puma, Falcon, iodine and node"
  only_when_named

  programs = Pelton::Lab::WebPrograms
  app = programs.application("hello")

  serve = lambda do |run, command, path = "/"|
    Pelton::Lab::WebServer.serve(command) do |server|
      check = -> { server.get(path).then { |answer| run.expect(["200", "Hello World!"], [answer.code, answer.body]) } }
      check.call
      run.measure_server(server) { Pelton::Lab::WebLoad.new(run).wrk(server.url(path), seconds: run.size) }
      check.call
    end
  end

  race "keep-alive", size: {apart: 2}, rehearsal: 1, full: 10, unit: "seconds" do
    about "twelve bytes, asked for again and again on 64 connections that stay open"
    server { Pelton::Lab::WebLoad.program("wrk") }
    also :cpu_us_per_operation, "CPU us/op"

    baseline "nginx, return 200", style: "callback", program: "nginx" do |run|
      serve.call(run, programs.nginx('location / { return 200 "Hello World!"; }'))
    end

    contender "Pelton", style: "direct" do |run|
      serve.call(run, programs.pelton(app))
    end

    contender "iodine", style: "callback", gem: "iodine" do |run|
      serve.call(run, programs.iodine(app))
    end

    contender "Puma, 5 threads", style: "blocking", gem: "puma" do |run|
      serve.call(run, programs.puma(app))
    end

    contender "Falcon", style: "direct", gem: "falcon", rounds: 3 do |run|
      serve.call(run, programs.falcon(app))
    end

    contender "Thin", style: "callback", gem: "thin", extra: true, rounds: 3 do |run|
      serve.call(run, programs.thin(app))
    end

    contender "node", style: "callback", program: "node", rounds: 3 do |run|
      serve.call(run, programs.node(<<~JAVASCRIPT))
        require("http").createServer((request, response) => {
          response.writeHead(200, { "content-type": "text/plain", "content-length": 12 });
          response.end("Hello World!");
        }).listen(+process.argv[1], "127.0.0.1");
      JAVASCRIPT
    end

    # Requests a second of 0.80 are times of 1.25.
    target 11, "hello world: CPU a request / nginx", of: "Pelton", at_most: 1.3, metric: :cpu_us_per_operation
    target 12, "hello world: time a request / nginx (0.80 of its requests/s)", of: "Pelton", at_most: 1.25
    target 12, "the same / iodine (1.3 of its requests/s)", of: "Pelton", to: "iodine", at_most: 0.77
    target 12, "the same / Puma (4.7 of its requests/s)", of: "Pelton", to: "Puma, 5 threads", at_most: 0.213, digits: 3
  end

  race "a millisecond of CPU", size: {free: 1}, rehearsal: 1, full: 10, unit: "seconds" do
    about "a handler that computes for a millisecond, in one process and in two"
    server { Pelton::Lab::WebLoad.program("wrk") }

    baseline "Pelton, -w 1", style: "direct" do |run|
      serve.call(run, programs.pelton(app, "-w", "1"), "/busy")
    end

    contender "Pelton, -w 2", style: "direct" do |run|
      serve.call(run, programs.pelton(app, "-w", "2"), "/busy")
    end

    contender "Puma, -w 1", style: "blocking", gem: "puma", rounds: 3 do |run|
      serve.call(run, programs.puma(app, workers: 1), "/busy")
    end

    contender "Puma, -w 2", style: "blocking", gem: "puma", rounds: 3 do |run|
      serve.call(run, programs.puma(app, workers: 2), "/busy")
    end

    target 26, "1 ms of CPU a request: time with -w 2 / -w 1 (1.8 times the requests/s)", of: "Pelton, -w 2", at_most: 0.556, digits: 3
  end
end
