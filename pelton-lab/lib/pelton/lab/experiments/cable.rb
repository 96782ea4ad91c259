# frozen_string_literal: true

require "tmpdir"
require "pelton/lab/database"
require "pelton/lab/pinning"
require "pelton/lab/programs"
require "pelton/lab/web/cable_sockets"
require "pelton/lab/web/load"
require "pelton/lab/web/programs"
require "pelton/lab/web/server"

# What live pages cost: a stream that thousands of sockets have subscribed to, by Action Cable's protocol. Each server has the same channel, whose
# messages have a number and a time; each frame that a socket gets is compared with those of the others.
Pelton::Lab.experiment "cable" do
  about "broadcasts to a thousand sockets by pelton-cable, by the same channel of Rails on Pelton and on Puma, and by node"
  only_when_named

  lab = Pelton::Lab
  programs = lab::WebPrograms
  bare, web, rails = %w[cable cable_web cable_rails].map { |name| programs.application(name) }
  node = ->(port, _) { [lab::Programs.find("node"), programs.application("cable", "js"), port.to_s] }
  ways = {
    "Puma, Rails" => [programs.puma(rails), {}, {gem: "puma", with: %w[rails]}],
    "Pelton, Rails" => [programs.pelton(rails), {"RAILTIE" => "pelton/rails"}, {gem: "rails", style: "direct"}],
    "Pelton, Web" => [programs.pelton(web), {}, {style: "direct"}],
    "Pelton" => [programs.pelton(bare), {}, {style: "direct"}],
    "node, ws" => [node, {"NODE_PATH" => "/usr/share/nodejs:/usr/lib/node_modules"}, {style: "callback", program: "node"}]
  }

  # Serves one of them, and yields it with its address for sockets.
  serve = lambda do |run, name, environment = {}, &block|
    command, own, = ways.fetch(name)
    environment = {"RUBYLIB" => [lab::Installation::LIBRARIES, ENV["RUBYLIB"]].compact.join(File::PATH_SEPARATOR), **environment, **own}
    lab::WebServer.serve(command, environment:, deadline: 60) do |server|
      lab::Pinning.move(run.server_core)
      block.call(server, server.url("/cable").sub("http", "ws"))
    end
  end
  broadcast = ->(run, server, number) { run.expect("201", server.post("/broadcast?#{number}", "").code, "the status of a broadcast") }
  channel = {channel: "LabChannel"}

  # A race of these servers with so many sockets that have subscribed to the stream.
  contenders = lambda do |race, names, sockets: 1_000, &work|
    names.each do |name|
      race.contender(name, style: "blocking", baseline: name == names.first, **ways.fetch(name).last) do |run|
        serve.call(run, name) do |server, url|
          before = server.usage.rss_kb
          size = run.rehearsal? ? 50 : sockets
          opened = lab::CableSockets.new(run, url, size, channel: channel)
          run.record(:socket_kb, (server.usage.rss_kb - before) / size.to_f)
          run.measure_server(server) { work.call(run, server, opened) }
          opened.close
        end
      end
    end
  end
  rounds = {size: {apart: 50}, rounds: 6, rounds_per_process: 3, rehearsal: 2, full: 200, unit: "broadcasts"}

  race "1,000 sockets", **rounds do
    about "one stream, as fast as it goes: the time is that of a delivery"
    also :cpu_us_per_operation, "CPU us/op"
    contenders.call(self, ways.keys) do |run, server, sockets|
      sockets.saturate(run.size) { broadcast.call(run, server, run.size) }
    end
    target nil, "1,000 sockets: time of a delivery by Rails' channel / on Puma (15 times its deliveries)", of: "Pelton, Rails", at_most: 1 / 15r.to_f
    target nil, "the same / node's ws (its deliveries)", of: "Pelton, Rails", to: "node, ws", at_most: 1
    target nil, "the same by a bare channel / node's ws (its deliveries)", of: "Pelton", to: "node, ws", at_most: 1
  end

  race "10 broadcasts a second", **rounds, size: {apart: 20}, full: 100 do
    about "to 1,000 sockets: percentiles of the time from a broadcast to each socket"
    metric :p50_ms, "p50 ms"
    also :p99_ms, "p99 ms"
    contenders.call(self, ways.keys) do |run, server, sockets|
      sockets.pace(run.size, interval: 0.1) { broadcast.call(run, server, 1) }.tap { |done| %i[p50_ms p99_ms].each { |name| run.record(name, done[name]) } }
    end
    target nil, "10 broadcasts a second to 1,000 sockets: the median delivery by Rails' channel / on Puma", of: "Pelton, Rails", at_most: 0.1
    target nil, "the same: the 99th percentile / on Puma", of: "Pelton, Rails", at_most: 0.1, metric: :p99_ms
  end

  race "subscriptions", **rounds, size: {apart: 5}, full: 20, unit: "subscriptions of each socket" do
    about "100 sockets subscribe to channels of Rails, with a query of PostgreSQL each"
    server { |processes, core, _| lab::Database::ALL.fetch("PostgreSQL").start(processes, core) }
    (ways.keys & ["Puma, Rails", "Pelton, Rails"]).each do |name|
      contender(name, style: "blocking", baseline: name == "Puma, Rails", **ways.fetch(name).last) do |run|
        Dir.mktmpdir("pelton-lab") do |folder|
          database = lab::Database::ALL.fetch("PostgreSQL")
          database.open(run, folder) do |opened|
            opened.create_table?(:users) { primary_key :id }
            opened[:users].insert_conflict.insert(id: 1)
          end
          serve.call(run, name, {"DATABASE" => database.address(run, :rails, folder), "POOL" => "10"}) do |server, url|
            sockets = lab::CableSockets.new(run, url, 100, channel: channel)
            run.measure_server(server) { sockets.subscribe_to(run.size) { |number| {channel: "QueryChannel", user: 1, number: number} } }
            sockets.close
          end
        end
      end
    end
    target nil, "subscriptions with a query on PostgreSQL: time of one by Rails' channel / on Puma (2 times as many a second)", of: "Pelton, Rails", at_most: 1 / 2r.to_f
  end

  race "10,000 idle sockets", **rounds, size: {apart: 1}, full: 1, rounds: 3, rounds_per_process: 1 do
    about "the memory of each, subscribed and without messages; one broadcast shows that all are there"
    metric :socket_kb, "KB a socket", digits: 1
    contenders.call(self, ways.keys - ["Puma, Rails"], sockets: 10_000) do |run, server, sockets|
      sockets.saturate(run.size) { broadcast.call(run, server, run.size) }
    end
    target nil, "10,000 idle sockets: memory of each, pelton-web", of: "Pelton, Web", at_most: 8, unit: "KB"
    target nil, "the same, Rails", of: "Pelton, Rails", at_most: 20, unit: "KB"
  end
end
