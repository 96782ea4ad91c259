# frozen_string_literal: true

require "zlib"
require "pelton/lab/applications/messages"
require "pelton/lab/web"

# What a framework costs: a text, a page of messages for a user who is signed in, the same page that the client has
# already, an image.
Pelton::Lab.web_experiment "web" do |programs|
  about "pages by Pelton::Web: fragments that are deflated once, and public responses from the server's cache; Roda, " \
    "Sinatra, Rails and nginx"

  web = programs.application("web")
  libraries = {"RUBYLIB" => [Pelton::Lab::Installation::LIBRARIES, ENV["RUBYLIB"]].compact.join(File::PATH_SEPARATOR)}
  rounds = {size: {apart: 1}, rounds: 8, rounds_per_process: 4, rehearsal: 1, full: 5, unit: "s"}
  text = "Hello World!"

  # Starts a server and measures it under wrk's load of one request, whose answer the block checks.
  serve = lambda do |run, command, path, headers: {}, environment: {}, &right|
    Pelton::Lab::WebServer.serve(command, environment: libraries.merge(environment), deadline: 60) do |server|
      check = -> { run.expect(true, !!right.call(server.get(path, headers)), "whether the answer is right") }
      2.times { check.call }
      run.measure_server(server) do
        Pelton::Lab::WebLoad.new(run).wrk(server.url(path), seconds: run.size, headers: headers)
      end
      check.call
    end
  end

  race "a constant text", **rounds do
    about "one route, on 64 connections"
    server { Pelton::Lab::WebLoad.program("wrk") }
    also :cpu_us_per_operation, "CPU us/op"
    right = ->(answer) { [answer.code, answer.body] == ["200", text] }

    baseline("a Rack application, Pelton", style: "direct") do |run|
      serve.call(run, programs.pelton(programs.application("hello")), "/", &right)
    end
    contender("Web, Pelton", style: "direct") { |run| serve.call(run, programs.pelton(web), "/", &right) }
    contender("Web with 200 routes, Pelton", style: "direct") do |run|
      serve.call(run, programs.pelton(web), "/", environment: {"ROUTES" => "200"}, &right)
    end
    contender("Sinatra, Pelton", style: "direct", gem: "sinatra", rounds: 3) do |run|
      serve.call(run, programs.pelton(programs.application("web_sinatra")), "/", &right)
    end
    contender("Roda, Puma", style: "blocking", gem: "roda", rounds: 3) do |run|
      serve.call(run, programs.puma(programs.application("web_roda_text")), "/", &right)
    end

    # Request id and security headers are 1.0 of the 2.4 us that Web adds.
    target nil, "a constant text: time by Web / by the bare Rack application (0.85 of its requests/s)",
      of: "Web, Pelton", at_most: 1 / 0.85
    target nil, "the same / Roda on Puma (4 times its requests/s)", of: "Web, Pelton", to: "Roda, Puma",
      at_most: 1 / 4r.to_f
    target nil, "the same / Sinatra on Pelton (4 times)", of: "Web, Pelton", to: "Sinatra, Pelton", at_most: 1 / 4r.to_f
    target nil, "200 routes / 5 routes (0.95 of the requests/s)", of: "Web with 200 routes, Pelton", to: "Web, Pelton",
      at_most: 1 / 0.95
  end

  race "40 messages", **rounds do
    about "a page of 28 KB for a user who is signed in, with an entity tag, compressed by gzip; nginx compresses the " \
      "finished page from memory"
    server { Pelton::Lab::WebLoad.program("wrk") }
    also :cpu_us_per_operation, "CPU us/op"
    headers = {"Accept-Encoding" => "gzip", "Cookie" => "user=Ada"}
    right = ->(answer) {
      answer["content-encoding"] == "gzip" && answer["etag"] &&
        Messages.right?(Zlib.gunzip(answer.body), "Ada")
    }

    baseline "Roda, erubi, Puma", style: "blocking", gem: "roda", rounds: 3 do |run|
      serve.call(run, programs.puma(programs.application("web_roda")), "/messages", headers: headers, &right)
    end
    contender("Web, nothing cached", style: "direct") do |run|
      serve.call(run, programs.pelton(web), "/messages", headers: headers, &right)
    end
    contender "Web, fragments", style: "direct" do |run|
      serve.call(run, programs.pelton(web), "/messages", headers: headers, environment: {"FRAGMENTS" => "1"}, &right)
    end
    contender "Rails, Puma", style: "blocking", gem: "rails", rounds: 3 do |run|
      serve.call(run, programs.puma(programs.application("web_rails")), "/messages", headers: headers, &right)
    end
    contender "nginx, gzip on", style: "callback", program: "nginx" do |run|
      serve.call(run, programs.nginx_page(Messages.page("Ada")), "/messages", headers: headers, &right)
    end

    target nil, "40 messages, nothing cached: time / Roda, erubi and Rack::Deflater on Puma (1.5 times its requests/s)",
      of: "Web, nothing cached", at_most: 1 / 1.5
    # zlib, the tag's digest and the messages' own texts take 240 of Web's 560 us; Rails pays for them too.
    target nil, "the same / Rails on Puma (8 times)", of: "Web, nothing cached", to: "Rails, Puma", at_most: 1 / 8r.to_f
    # 41 keys, look-ups and marks take 130 of a cached page's 210 us in a template.
    target nil, "with fragments / nothing cached (5 times the requests/s)", of: "Web, fragments",
      to: "Web, nothing cached", at_most: 1 / 5r.to_f
    target nil, "with fragments / nginx that compresses the finished page", of: "Web, fragments", to: "nginx, gzip on",
      at_most: 1.5
  end

  race "40 messages, not modified", **rounds do
    about "the same page for a client that has it: 304"
    server { Pelton::Lab::WebLoad.program("wrk") }
    also :cpu_us_per_operation, "CPU us/op"

    baseline("hello, Pelton", style: "direct") do |run|
      serve.call(run, programs.pelton(programs.application("hello")), "/") { |answer| answer.body == text }
    end
    contender "Web, the version known", style: "direct" do |run|
      headers = {"Cookie" => "user=Ada", "If-None-Match" => "*"}
      serve.call(run, programs.pelton(web), "/messages/versioned", headers: headers) do |answer|
        answer.code == "304" && answer["etag"]
      end
    end

    target nil, "304 for 40 messages: time / hello (0.7 of its requests/s)", of: "Web, the version known",
      at_most: 1 / 0.7
  end

  race "a public image", **rounds do
    about "20 KB that everybody gets"
    server { Pelton::Lab::WebLoad.program("wrk") }
    also :cpu_us_per_operation, "CPU us/op"
    image = Random.new(20).bytes(20_000)
    right = ->(answer) { answer.body.b == image }

    baseline("nginx, sendfile", style: "callback", program: "nginx") do |run|
      serve.call(run, programs.nginx_page(image), "/image", &right)
    end
    contender("Pelton, cache", style: "direct") do |run|
      serve.call(run, programs.pelton(programs.application("image"), "--cache", "64M"), "/image", &right)
    end
    contender("Pelton, no cache", style: "direct") do |run|
      serve.call(run, programs.pelton(programs.application("image")), "/image", &right)
    end

    target nil, "a public image from the cache: time / nginx's sendfile of the file (0.7 of its requests/s)",
      of: "Pelton, cache", at_most: 1 / 0.7
  end
end
