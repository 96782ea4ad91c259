# frozen_string_literal: true

require "pelton/lab/pattern"
require "pelton/lab/statistics"
require "pelton/lab/web_load"
require "pelton/lab/web_programs"
require "pelton/lab/web_server"
require "tempfile"

# What a web server pays for clients who take their time: ten thousand who say nothing (C10K), a hundred who read slowly, and
# one who wants much. The contender is a server, alone on its core.
Pelton::Lab.experiment "connections" do
  about "ten thousand idle keep-alive connections, a hundred slow readers, a file of 100 MB: Pelton's server against nginx and others"
  only_when_named

  programs = Pelton::Lab::WebPrograms
  pattern = Pelton::Lab::Pattern
  hello = "Hello World!"

  others = lambda do |race, serve, app|
    race.contender "Thin", style: "callback", gem: "thin", rounds: 3 do |run|
      serve.call(run, programs.thin(app))
    end

    race.contender "Puma, 5 threads", style: "blocking", gem: "puma", extra: true, rounds: 3 do |run|
      serve.call(run, programs.puma(app))
    end

    race.contender "Falcon", style: "direct", gem: "falcon", extra: true, rounds: 3 do |run|
      serve.call(run, programs.falcon(app))
    end
  end

  race "ten thousand idle", size: {apart: 10_000}, rehearsal: 100, unit: "connections" do
    about "connections that have asked once and stay open; wrk asks on others, before and beside them"
    server { Pelton::Lab::WebLoad.program("ab") && Pelton::Lab::WebLoad.program("wrk") }
    metric :kb_each, "memory of each, KB"
    also :slowdown, "time beside them / before, times"
    also :cpu_slowdown, "CPU beside them / before, times"

    app = programs.application("hello")
    # The system counts in ticks: less than one is one.
    cpu = ->(cost) { [cost.cpu, 1 / Pelton::Lab::WebServer::TICKS].max / cost.operations }
    serve = lambda do |run, command|
      Pelton::Lab::WebServer.serve(command) do |server|
        load = Pelton::Lab::WebLoad.new(run)
        # What a server's first requests cost it is no connection's.
        load.ab(server.url, requests: 2_000, connections: 64, bytes: hello.bytesize)
        before = server.cost { load.wrk(server.url, seconds: 1) } unless run.rehearsal?
        empty = server.usage.rss_kb
        crowd = load.crowd(server, run.size, body: hello)
        run.record(:kb_each, (server.usage.rss_kb - empty) / run.size.to_f)
        run.measure_server(server) { load.wrk(server.url, seconds: 1) }
        crowd.check
        crowd.close
        next unless before
        run.record(:slowdown, run.measurement.us_per_operation / before.us_per_operation)
        run.record(:cpu_slowdown, cpu.call(run.measurement) / cpu.call(before))
      end
    end

    baseline "nginx, return 200", style: "callback", program: "nginx", rounds: 3 do |run|
      serve.call(run, programs.nginx("location / { return 200 \"#{hello}\"; }"))
    end

    contender "Pelton", style: "direct" do |run|
      serve.call(run, programs.pelton(app))
    end

    contender "iodine", style: "callback", gem: "iodine", rounds: 3 do |run|
      serve.call(run, programs.iodine(app))
    end

    others.call(self, serve, app)

    target 21, "memory of an idle keep-alive connection, of 10,000", of: "Pelton", at_most: 1.5, unit: "KB"
    target 21, "time a request beside them / before (0.95 of its requests/s)", of: "Pelton", at_most: 1.053, metric: :slowdown, unit: "times"
    target 21, "CPU a request beside them / before", of: "Pelton", at_most: 1.053, metric: :cpu_slowdown, unit: "times"
  end

  race "a hundred slow readers", size: {apart: 100}, rehearsal: 5, unit: "readers of 8 MB" do
    about "bodies of 8 MB, taken a kilobyte at a time; meanwhile another client asks for twelve bytes, fifty times a second"
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
          times = load.paced(server, requests: run.rehearsal? ? 10 : 100, interval: 0.02, body: hello) { readers.read_on((run.size / 5.0).ceil) }
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
        serve.call(run, programs.nginx("sendfile on; location = /large { alias #{file.path}; } location / { return 200 \"#{hello}\"; }"))
      end
    end

    contender "Pelton", style: "direct" do |run|
      serve.call(run, programs.pelton(app))
    end

    contender "iodine", style: "callback", gem: "iodine", extra: true, rounds: 3 do |run|
      serve.call(run, programs.iodine(app))
    end

    others.call(self, serve, app)

    target 22, "hello beside 100 slow readers of 8 MB: the longest of 100 answers", of: "Pelton", at_most: 50, unit: "ms", digits: 1
    target 22, "growth of its memory / the bodies", of: "Pelton", at_most: 1.1, metric: :share, unit: "times"
  end

  race "a large file", size: {apart: 10}, rehearsal: 1, unit: "files of 100 MB" do
    about "one client receives it ten times"
    metric :cpu_ms, "CPU a file, ms", digits: 1
    also :grown_mb, "growth of its memory, MB", digits: 1

    bytes = 100 << 20
    app = programs.application("file")
    # The block is given the file's path.
    serve = lambda do |run, &command|
      Tempfile.create("pelton-lab") do |file|
        pattern.each_block(bytes) { |block| file.write(block) }
        file.flush
        Pelton::Lab::WebServer.serve(command.call(file.path), environment: {"FILE" => file.path}) do |server|
          load = Pelton::Lab::WebLoad.new(run)
          load.receive(server, "/file", times: 1, bytes:)
          run.measure_server(server) { load.receive(server, "/file", times: run.size, bytes:) }
          run.record(:cpu_ms, run.measurement.cpu_us_per_operation / 1000)
        end
      end
    end

    baseline "nginx, sendfile", style: "callback", program: "nginx" do |run|
      serve.call(run) { |path| programs.nginx("sendfile on; location = /file { alias #{path}; }") }
    end

    contender "Pelton", style: "direct" do |run|
      serve.call(run) { programs.pelton(app) }
    end

    contender "Puma, 5 threads", style: "blocking", gem: "puma", rounds: 3 do |run|
      serve.call(run) { programs.puma(app) }
    end

    contender "iodine", style: "callback", gem: "iodine", extra: true, at_most: 5, rounds: 3 do |run|
      serve.call(run) { programs.iodine(app) }
    end

    contender "Thin", style: "callback", gem: "thin", extra: true, at_most: 5, rounds: 3 do |run|
      serve.call(run) { programs.thin(app) }
    end

    contender "Falcon", style: "direct", gem: "falcon", extra: true, rounds: 3 do |run|
      serve.call(run) { programs.falcon(app) }
    end

    target nil, "a file of 100 MB by sendfile: growth of the server's memory", of: "Pelton", at_most: 10, metric: :grown_mb, unit: "MB", digits: 1
  end
end
