# frozen_string_literal: true

require "zlib"
require "pelton/lab/applications/edge"
require "pelton/lab/web"
require "pelton/lab/web/edge_servers"

# What clients meet: TLS, HTTP/2, compression, files, a cache. Pelton does it in the process of the application, others
# in a proxy before it. All processes of a server share one core, wrk or h2load have the other.
Pelton::Lab.web_experiment "edge" do |_programs|
  about "TLS, HTTP/2, gzip, files and cached pages by Pelton alone, by Thruster or nginx before Puma, and by Falcon"

  lab = Pelton::Lab
  rounds = {size: {apart: 2}, rounds: 8, rounds_per_process: 4, rehearsal: 1, full: 5, unit: "s"}

  # A way to serve: the method of {EdgeServers}, what the application does or has done, how it is declared, and whether
  # the method is told what is public. Rounds of two seconds, since each begins with the handshakes of all clients.
  way = Struct.new(:server, :environment, :options, :is_told)
  ways = {
    "nginx alone" => way.new(:nginx, {}, {style: "callback", program: "nginx", baseline: true}),
    "Pelton" => way.new(:pelton, {"SENDFILE" => "x-sendfile"}, {style: "direct"}),
    "Thruster, Puma" => way.new(:thruster, {"SENDFILE" => "x-sendfile", "STATIC" => "1"},
      {style: "blocking", gem: "thruster", with: %w[puma]}),
    "nginx, Puma" => way.new(:nginx_and_puma, {"SENDFILE" => "x-accel-redirect"},
      {style: "blocking", program: "nginx", gem: "puma"}),
    "Falcon" => way.new(:falcon, {"STATIC" => "1", "DEFLATE" => "1"}, {style: "direct", gem: "falcon", rounds: 4}, true)
  }

  # The contenders of a race for one path of an application. `right` is asked of an answer before and after the load.
  contenders = lambda do |race, path, headers, load, application: "edge", of: ways, &right|
    race.also :per_second, "requests/s", digits: 0
    race.also :p99_ms, "p99 ms", digits: 1
    race.also :cpu_us_per_operation, "CPU us/op", digits: 0
    race.also :processes, "processes", digits: 0
    of.each do |name, one|
      race.contender(name, **one.options) do |run|
        lab::EdgeServers.open(application) do |servers|
          command = servers.public_send(one.server, **(one.is_told ? {cache: path == "/public"} : {}))
          servers.serve(command, environment: one.environment) do |server|
            # As a browser does from the second page on.
            cookie = server.get(path)["set-cookie"]&.slice(/\A[^;]+/)
            sent = cookie ? {**headers, "Cookie" => cookie} : headers
            check = lambda do
              answer = server.get(path, {"Accept-Encoding" => "identity", **sent})
              run.expect(["200", true], [answer.code, !!right.call(answer)],
                "an answer's status, and whether it is right")
            end
            3.times { check.call } # it is in the cache then
            run.measure_server(server) do
              load.call(lab::WebLoad.new(run), server, run.size, sent).tap do |done|
                run.record(:p99_ms, done.p99_ms)
                run.record(:per_second, done.requests / done.seconds)
                run.record(:processes, server.processes)
              end
            end
            check.call
          end
        end
      end
    end
  end

  # So many clients of HTTP/1.1, as wrk has it.
  by_wrk = lambda do |race, path, connections: 64, headers: {}, &right|
    race.server { lab::WebLoad.program("wrk") }
    load = ->(with, server, seconds, sent) { with.wrk(server.url(path), seconds:, connections:, headers: sent) }
    contenders.call(race, path, headers, load, &right)
  end

  # The limits are for Pelton: how many times the requests/s of each of the other two.
  targets = lambda do |race, title, thruster:, nginx:|
    {"Thruster, Puma" => thruster, "nginx, Puma" => nginx}.each do |name, times|
      race.target nil, "#{title} over TLS: time / #{name} (#{times} times its requests/s)", of: "Pelton", to: name,
        at_most: 1 / times.to_f
    end
  end

  race "hello, HTTP/2", **rounds do
    about "twelve bytes from the application, on 64 connections with ten requests at once, by h2load"
    server { lab::WebLoad.program("h2load") }
    load = lambda do |with, server, seconds, sent|
      with.h2load(server.url("/hello", host: lab::EdgeServers::NAME), seconds:, at: "127.0.0.1:#{server.port}",
        percentiles: true, headers: sent)
    end
    contenders.call(self, "/hello", {}, load) { |answer| answer.body == Edge::HELLO }
    targets.call(self, "hello, HTTP/2", thruster: 4, nginx: 2)
    target nil, "the same: memory of all processes / Thruster and Puma", of: "Pelton", to: "Thruster, Puma", at_most: 1,
      metric: :rss_mb
  end

  # By default Pelton compresses at level 4 and nginx at level 1; Thruster has a faster compressor than zlib.
  [[10, 1.5, 1], [100, 0.8, 0.7]].each do |kilobytes, thruster, nginx|
    race "#{kilobytes} KB, gzip", **rounds do
      about "a page of #{kilobytes} KB from the application, compressed as each server does it by default, on 64 " \
        "connections"
      page = Edge.page(kilobytes)
      by_wrk.call(self, "/page/#{kilobytes}", headers: {"Accept-Encoding" => "gzip"}) do |answer|
        answer["content-encoding"] == "gzip" && Zlib.gunzip(answer.body) == page
      end
      targets.call(self, "#{kilobytes} KB, gzip", thruster:, nginx:)
    end
  end

  race "an asset", **rounds do
    about "20 KB with a digest in the name, from public/; Thruster keeps Puma's answer in memory; on 64 connections"
    asset = Edge.asset
    by_wrk.call(self, Edge::ASSET_PATH) do |answer|
      answer.body == asset && answer["cache-control"].include?("max-age=31")
    end
    target nil, "an asset over TLS: time / nginx alone (0.8 of its requests/s)", of: "Pelton", at_most: 1 / 0.8
    targets.call(self, "an asset", thruster: 3, nginx: 0.8)
  end

  race "a file of 5 MB", **rounds do
    about "the application names it by X-Sendfile, or nginx by X-Accel-Redirect; on 8 connections"
    file = Edge.file
    by_wrk.call(self, "/file", connections: 8) { |answer| answer.body == file && !answer["x-sendfile"] }
    targets.call(self, "5 MB by X-Sendfile", thruster: 1, nginx: 0.8)
  end

  race "a public page", **rounds do
    about "10 KB that each server keeps in its cache; on 64 connections"
    page = Edge.page(10)
    by_wrk.call(self, "/public") { |answer| answer.body == page }
    targets.call(self, "a public page", thruster: 1.5, nginx: 0.8)
  end

  # Puma's threads, and so the connections to the database: those of a new application.
  all = {"RAILS_ENV" => "production", "POOL" => lab::EdgeServers::THREADS.to_s}
  puma = {**all, "STATIC" => "1"}
  gems = %w[rails sqlite3]
  rails = {
    "Thruster, Puma" => way.new(:thruster, puma,
      {style: "blocking", gem: "thruster", with: ["puma", *gems], baseline: true}),
    "Pelton" => way.new(:pelton, {**all, "RAILTIE" => "pelton/rails", "POOL" => "16"},
      {style: "direct", gem: "pelton-rails", with: gems}),
    "nginx, Puma" => way.new(:nginx_and_puma, puma, {style: "blocking", program: "nginx", gem: "puma", with: gems}),
    # It would have Bundler hide all gems but those of one group.
    "Falcon" => way.new(:falcon, {**puma, "DEFLATE" => "1", "FIBERS" => "1", "POOL" => "16", "BUNDLE_GEMFILE" => nil},
      {style: "direct", gem: "falcon", with: gems, rounds: 4})
  }
  page = "/articles?page=1"
  gzip = {"Accept-Encoding" => "gzip"}
  is_page = lambda do |answer|
    next false unless answer["content-encoding"] == "gzip"
    html = Zlib.gunzip(answer.body)
    html.scan("<article id=").size == 40 && Edge::ASSETS.all? { |asset| html.include?(asset) }
  end

  race "a Rails page", **rounds do
    about "30 KB from SQLite, compressed, on 16 connections"
    server { lab::WebLoad.program("wrk") }
    load = ->(with, server, seconds, sent) { with.wrk(server.url(page), seconds:, connections: 16, headers: sent) }
    contenders.call(self, page, gzip, load, application: "edge_rails", of: rails, &is_page)
    targets.call(self, "a Rails page", thruster: 1.4, nginx: 1)
    {p99_ms: "the 99th percentile", rss_mb: "memory of all processes"}.each do |metric, what|
      target nil, "the same: #{what} / Thruster and Puma", of: "Pelton", to: "Thruster, Puma", at_most: 0.7, metric:
    end
  end

  race "Rails pages and their assets", **rounds do
    about "ten such pages, each followed by forty assets of 20 KB, by HTTP/2, on 16 connections with six requests each"
    server { lab::WebLoad.program("h2load") }
    paths = Array.new(Edge::PAGES) { |number| ["/articles?page=#{number + 1}", *Edge::ASSETS] }.flatten
    load = lambda do |with, server, seconds, sent|
      urls = paths.map { |path| server.url(path, host: lab::EdgeServers::NAME) }
      with.h2load(*urls, seconds:, connections: 16, streams: 6, at: "127.0.0.1:#{server.port}", percentiles: true,
        headers: sent)
    end
    contenders.call(self, page, gzip, load, application: "edge_rails", of: rails, &is_page)
    targets.call(self, "Rails pages and their assets", thruster: 1.4, nginx: 1)
  end
end
