# frozen_string_literal: true

require "pelton/lab/web"

# "Ruby EventMachine - The Speed Demon" (2008): a request that takes two seconds blocks an evented server, unless the
# programmer defers it to threads or to callbacks. Here a plain handler sleeps.
Pelton::Lab.web_experiment "slow" do |programs|
  about "a handler that sleeps for two seconds, by ab: plain, in threads, by timers"

  plain = programs.application("slow")

  # The rehearsal checks the answers, with shorter naps; a timed round checks their length only.
  nap = 0.1
  serve = lambda do |run, command, connections|
    Pelton::Lab::WebServer.serve(command, environment: {"SECONDS" => run.rehearsal? ? nap.to_s : "2"}) do |server|
      run.expect("Hello World!", server.get.body) if run.rehearsal?
      run.measure_server(server) do
        Pelton::Lab::WebLoad.new(run).ab(server.url, requests: run.size, connections:, bytes: 12)
      end
    end
  end

  article = lambda do |run, name, port, on, **instead|
    programs.article(name, port, on:, instead: {**instead, **(run.rehearsal? ? {"sleep 2" => "sleep #{nap}"} : {})})
  end

  by_ab = lambda do |race|
    race.server { Pelton::Lab::WebLoad.program("ab") }
    race.metric :real, "s", digits: 2
  end

  # Sleeping varies little: one round is enough.
  race "five at once", size: {apart: 10}, rehearsal: 2, rounds: 1, unit: "requests" do
    about "five requests at a time, for a handler that sleeps two seconds: ten that wait for each other take 20 s"
    by_ab.call(self)
    past '"The Speed Demon"', source: "2008, ab -c 5 -n 10", size: 10 do
      row "sleep in the handler", style: "blocking", real: 20.6246
      row "EM.defer", style: "callback", real: 4.21405
    end

    baseline "EventMachine, as printed", style: "blocking", gem: "eventmachine_httpserver" do |run|
      serve.call(run, article.call(run, "001_blocking", 8080, :eventmachine), 5)
    end

    baseline("Thin", style: "blocking", gem: "thin", instead_of: "EventMachine, as printed") do |run|
      serve.call(run, programs.thin(plain), 5)
    end
    contender "EventMachine, EM.defer", style: "callback", gem: "eventmachine_httpserver" do |run|
      serve.call(run, article.call(run, "001_threads", 8081, :eventmachine), 5)
    end

    contender("Pelton, as printed", style: "direct") do |run|
      serve.call(run, article.call(run, "001_blocking", 8080, :pelton), 5)
    end
    contender("Pelton, EM.defer", style: "callback") do |run|
      serve.call(run, article.call(run, "001_threads", 8081, :pelton), 5)
    end
    contender("Pelton, plain Rack", style: "direct") { |run| serve.call(run, programs.pelton(plain), 5) }
    contender("Puma, 5 threads", style: "blocking", gem: "puma") { |run| serve.call(run, programs.puma(plain), 5) }
  end

  # The article's third server is a client of its second one.
  race "twenty through a proxy", size: {apart: 40}, rehearsal: 2, rounds: 1, unit: "requests" do
    about "twenty requests at a time, for a server that sends a request to another one, which sleeps two seconds"
    by_ab.call(self)
    past '"The Speed Demon"', source: "2008, ab -c 20 -n 40", size: 40 do
      row "HttpClient to EM.defer", style: "deferrable", real: 4.41321
    end

    proxy = lambda do |run, on|
      Pelton::Lab::WebServer.serve(article.call(run, "001_threads", 8081, on)) do |threads|
        serve.call(run, article.call(run, "001_deferrable", 8082, on, 8081 => threads.port), 20)
      end
    end

    baseline "EventMachine", style: "deferrable", gem: "eventmachine_httpserver" do |run|
      proxy.call(run, :eventmachine)
    end

    contender "Pelton, as printed", style: "deferrable" do |run|
      proxy.call(run, :pelton)
    end
  end

  # ab sends its first request alone, so two thousand take at least three times two seconds.
  race "a thousand at once", size: {apart: 2_000}, rehearsal: 20, unit: "requests" do
    about "a thousand requests at a time, for a handler that sleeps two seconds"
    by_ab.call(self)

    baseline("Thin, EM.add_timer", style: "callback", gem: "thin", rounds: 1) do |run|
      serve.call(run, programs.thin(programs.application("slow_timer")), 1_000)
    end
    contender("Pelton, plain Rack", style: "direct") { |run| serve.call(run, programs.pelton(plain), 1_000) }
    contender("Falcon, plain Rack", style: "direct", gem: "falcon", rounds: 1) do |run|
      serve.call(run, programs.falcon(plain), 1_000)
    end
    contender("Puma, 1,000 threads", style: "blocking", gem: "puma", rounds: 1) do |run|
      serve.call(run, programs.puma(plain, threads: 1_000), 1_000)
    end

    target 13, "sleep 2 in a plain handler, ab -c 1000 -n 2000 (least possible 6.0 s)", of: "Pelton, plain Rack",
      at_most: 6.2, unit: "s"
    target 13, "its memory's peak", of: "Pelton, plain Rack", at_most: 60, metric: :rss_mb, unit: "MB", digits: 0
  end
end
