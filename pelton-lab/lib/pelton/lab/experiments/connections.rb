# frozen_string_literal: true

require "pelton/lab/pattern"
require "pelton/lab/statistics"
require "pelton/lab/web"
require "tempfile"

# The cost of slow clients for a web server: ten thousand idle connections (C10K), a hundred slow readers, and one
# client with a large body. The contender is a server, alone on its core.
Pelton::Lab.web_experiment "connections" do |programs|
  about "ten thousand idle keep-alive connections, a hundred slow readers, 100 MB up: Pelton's server against nginx"

  pattern = Pelton::Lab::Pattern
  hello = "Hello World!"

  race "ten thousand idle", size: {apart: 10_000}, rehearsal: 100, unit: "connections" do
    about "connections that stay open after a request each; wrk sends requests on others, before and beside them"
    server { Pelton::Lab::WebLoad.program("ab") && Pelton::Lab::WebLoad.program("wrk") }
    metric :kb_each, "memory of each, KB"
    also :slowdown, "time beside them / before, times"
    also :cpu_slowdown, "CPU beside them / before, times"

    app = programs.application("hello")
    # Without a clock of the process's own, its CPU time is counted in ticks, and may be none.
    cpu = ->(cost) { [cost.cpu, 1 / Pelton::Lab::WebServer::TICKS].max / cost.operations }
    serve = lambda do |run, command|
      Pelton::Lab::WebServer.serve(command) do |server|
        load = Pelton::Lab::WebLoad.new(run)
        # The memory that a server needs for its first requests belongs to no connection.
        load.ab(server.url, requests: 2_000, connections: 64, bytes: hello.bytesize)
        before = server.cost { load.wrk(server.url, seconds: 1) }
        empty = server.usage.rss_kb
        connections = load.idle_connections(server, run.size, body: hello)
        run.record(:kb_each, (server.usage.rss_kb - empty) / run.size.to_f)
        run.measure_server(server) { load.wrk(server.url, seconds: 1) }
        connections.check
        connections.close
        run.record(:slowdown, run.measurement.us_per_operation / before.us_per_operation)
        run.record(:cpu_slowdown, cpu.call(run.measurement) / cpu.call(before))
      end
    end

    baseline "nginx, return 200", style: "callback", program: "nginx", rounds: 3 do |run|
      serve.call(run, programs.nginx("location / { return 200 \"#{hello}\"; }"))
    end

    contender("Pelton", style: "direct") { |run| serve.call(run, programs.pelton(app)) }

    target 21, "memory of an idle keep-alive connection, of 10,000", of: "Pelton", at_most: 1.5, unit: "KB"
    target 21, "time a request beside them / before (0.95 of its requests/s)", of: "Pelton", at_most: 1.053,
      metric: :slowdown, unit: "times"
    target 21, "CPU a request beside them / before", of: "Pelton", at_most: 1.053, metric: :cpu_slowdown, unit: "times"
  end

  race "a hundred slow readers", size: {apart: 100}, rehearsal: 5, unit: "readers of 8 MB" do
    about "bodies of 8 MB, read a kilobyte at a time; meanwhile another client asks for twelve bytes, fifty times a " \
      "second"
    metric :longest_ms, "longest answer, ms", digits: 1
    also :median_ms, "median answer, ms", digits: 1
    also :share, "memory / bodies, times"

    blocks = 128
    app = programs.application("large")
    serve = lambda do |run, command|
      Pelton::Lab::WebServer.serve(command, environment: {"BLOCKS" => blocks.to_s}) do |server|
        load = Pelton::Lab::WebLoad.new(run)
        body = pattern::BLOCK * blocks
        run.expect(hello, server.get.body)
        readers = nil
        run.measure_server(server) do
          readers = load.slow_readers(server, "/large", run.size, body:)
          started = Pelton::Clock.now
          # Fifty requests a second for two seconds; meanwhile each reader has its 10 KB a second.
          times = load.paced(server, requests: run.rehearsal? ? 10 : 100, interval: 0.02, body: hello) do
            readers.read_on((run.size / 5.0).ceil)
          end
          run.record(:longest_ms, times.max * 1000)
          run.record(:median_ms, Pelton::Lab::Statistics.median(times) * 1000)
          Pelton::Lab::WebLoad::Done.new(times.size, Pelton::Clock.now - started)
        end
        run.record(:share, run[:grown_mb] / (run.size * body.bytesize / 1024.0**2))
        readers.check(run.rehearsal? ? run.size : 1)
        readers.close
      end
    end

    baseline "nginx, a file", style: "callback", program: "nginx", rounds: 3 do |run|
      Tempfile.create("pelton-lab") do |file|
        file.write(pattern::BLOCK * blocks)
        file.flush
        serve.call(run,
          programs.nginx(
            "sendfile on; location = /large { alias #{file.path}; } location / { return 200 \"#{hello}\"; }"
          ))
      end
    end

    contender("Pelton", style: "direct") { |run| serve.call(run, programs.pelton(app)) }

    target 22, "hello beside 100 slow readers of 8 MB: the longest of 100 answers", of: "Pelton", at_most: 50,
      unit: "ms", digits: 1
    target 22, "growth of its memory / the bodies", of: "Pelton", at_most: 1.1, metric: :share, unit: "times"
  end

  race "a large upload", size: {apart: 2}, rehearsal: 1, rounds: 12, rounds_per_process: 6, unit: "uploads of 100 MB" do
    about "one client sends it; the handler reads it piece by piece; nginx buffers it in a file and passes it on to " \
      "a static upstream"
    metric :cpu_ms_per_operation, "CPU an upload, ms", digits: 1
    also :grown_mb, "growth of its memory, MB", digits: 1

    bytes = 100 << 20
    app = programs.application("body")
    serve = lambda do |run, command, digest: true|
      Pelton::Lab::WebServer.serve(command) do |server|
        load = Pelton::Lab::WebLoad.new(run)
        load.upload(server, "/digest", times: 1, bytes:, body: pattern.digest(bytes)) if digest
        load.upload(server, "/upload", times: 1, bytes:, body: bytes.to_s)
        run.measure_server(server) { load.upload(server, "/upload", times: run.size, bytes:, body: bytes.to_s) }
      end
    end

    baseline("nginx, proxy to a static upstream", style: "callback", program: "nginx") do |run|
      serve.call(run, programs.nginx_proxy(bytes), digest: false)
    end
    contender("Pelton", style: "direct") { |run| serve.call(run, programs.pelton(app)) }
    # The least that reading costs.
    contender "nginx, reads and discards", style: "callback", program: "nginx", rounds: 3 do |run|
      serve.call(run, programs.nginx("location / { return 200 \"#{bytes}\"; }"), digest: false)
    end

    contender("Puma, 5 threads", style: "blocking", gem: "puma", rounds: 3) do |run|
      serve.call(run, programs.puma(app))
    end

    target 29, "an upload of 100 MB, read by the handler: CPU / nginx", of: "Pelton", at_most: 1.5
  end
end
