# frozen_string_literal: true

require "tmpdir"
require "pelton/lab/database"
require "pelton/lab/web/cable_servers"
require "pelton/lab/web/cable_sockets"
require "pelton/lab/web/programs"
require "pelton/lab/web/requests_beside"
require "pelton/lab/web/resuming_sockets"

# What live pages cost: a stream that thousands of sockets have subscribed to, by Action Cable's protocol. Each server
# has the same channel, whose messages have a number and a time; each frame that a socket gets is compared with those of
# the others.
Pelton::Lab.experiment "cable" do
  about "broadcasts to a thousand sockets by Pelton::Cable, by the same channel of Rails on Pelton, on Puma and on " \
    "AnyCable, and by node"
  only_when_named

  lab = Pelton::Lab
  servers = lab::CableServers
  ways = servers::ALL
  broadcast = ->(run, server, number) do
    run.expect("201", server.post("/broadcast?#{number}", "").code, "the status of a broadcast")
  end
  channel = {channel: "LabChannel"}

  # A race of these servers with so many sockets that have subscribed to the stream.
  contenders = lambda do |race, names, sockets: 1_000, &work|
    names.each do |name|
      race.contender(name, baseline: name == names.first, **ways.fetch(name).needs) do |run|
        servers.serve(run, ways.fetch(name)) do |server, url|
          before = server.usage.rss_kb
          size = run.rehearsal? ? 50 : sockets
          started = Pelton::Clock.now
          opened = lab::CableSockets.new(run, url, size, channel: channel)
          run.record(:accepted, size / (Pelton::Clock.now - started))
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
    also :accepted, "subscribed/s", digits: 0
    contenders.call(self, ways.keys) do |run, server, sockets|
      sockets.saturate(run.size) { broadcast.call(run, server, run.size) }
    end
    target nil, "1,000 sockets: time of a delivery by Rails' channel / on Puma (15 times its deliveries)",
      of: "Pelton, Rails", at_most: 1 / 15r.to_f
    target nil, "the same / with fastlane (8 times its deliveries)", of: "Pelton, Rails", to: "Puma, Rails, fastlane",
      at_most: 1 / 8r.to_f
    target nil, "the same / AnyCable's server (0.8 of its deliveries)", of: "Pelton, Rails", to: "AnyCable, Rails",
      at_most: 1 / 0.8
    target nil, "the same / node's ws (its deliveries)", of: "Pelton, Rails", to: "node, ws", at_most: 1
    target nil, "the same by a bare channel / node's ws (its deliveries)", of: "Pelton", to: "node, ws", at_most: 1
  end

  race "10 broadcasts a second", **rounds, size: {apart: 20}, full: 100 do
    about "to 1,000 sockets: percentiles of the time from a broadcast to each socket"
    metric :p50_ms, "p50 ms"
    also :p99_ms, "p99 ms"
    contenders.call(self, ways.keys) do |run, server, sockets|
      sockets.pace(run.size, interval: 0.1) { broadcast.call(run, server, 1) }.tap do |done|
        %i[p50_ms p99_ms].each { |name| run.record(name, done[name]) }
      end
    end
    target nil, "10 broadcasts a second to 1,000 sockets: the median delivery by Rails' channel / on Puma",
      of: "Pelton, Rails", at_most: 0.1
    target nil, "the same: the 99th percentile / on Puma", of: "Pelton, Rails", at_most: 0.1, metric: :p99_ms
  end

  race "subscriptions", **rounds, size: {apart: 5}, full: 20, unit: "subscriptions of each socket" do
    about "100 sockets subscribe to channels of Rails, with a query of PostgreSQL each"
    server { |processes, core, _| lab::Database::ALL.fetch("PostgreSQL").start(processes, core) }
    ["Puma, Rails", "Pelton, Rails"].each do |name|
      contender(name, baseline: name == "Puma, Rails", **ways.fetch(name).needs) do |run|
        Dir.mktmpdir("pelton-lab") do |folder|
          database = lab::Database::ALL.fetch("PostgreSQL")
          database.open(run, folder) do |opened|
            opened.create_table?(:users) { primary_key :id }
            opened[:users].insert_conflict.insert(id: 1)
          end
          servers.serve(run, ways.fetch(name), {
            "DATABASE" => database.address(run, :rails, folder),
            "POOL" => "10"
          }) do |server, url|
            sockets = lab::CableSockets.new(run, url, 100, channel: channel)
            run.measure_server(server) do
              sockets.subscribe_to(run.size) { |number| {channel: "QueryChannel", user: 1, number: number} }
            end
            sockets.close
          end
        end
      end
    end
    target nil,
      "subscriptions with a query on PostgreSQL: time of one by Rails' channel / on Puma (2 times as many a second)",
      of: "Pelton, Rails", at_most: 1 / 2r.to_f
  end

  race "10,000 idle sockets", **rounds, size: {apart: 1}, full: 1, rounds: 3, rounds_per_process: 1 do
    about "the memory of each, subscribed and without messages; one broadcast shows that all are there"
    metric :socket_kb, "KB a socket", digits: 1
    contenders.call(self, ["Pelton, Rails", "Pelton, Web", "Pelton", "node, ws"],
      sockets: 10_000) do |run, server, sockets|
      sockets.saturate(run.size) { broadcast.call(run, server, run.size) }
    end
    target nil, "10,000 idle sockets: memory of each, pelton-web", of: "Pelton, Web", at_most: 8, unit: "KB"
    target nil, "the same, Rails", of: "Pelton, Rails", at_most: 20, unit: "KB"
  end

  race "requests beside broadcasts", **rounds, size: {apart: 400}, full: 2000, unit: "requests" do
    about "200 requests a second, without and then with 10 broadcasts a second to 1,000 sockets of the same process"
    metric :times, "p99 beside / alone"
    also :alone_ms, "p99 alone, ms"
    also :beside_ms, "p99 beside, ms"
    contenders.call(self, ["Puma, Rails", "Pelton, Rails", "Pelton, Web"]) do |run, server, sockets|
      requests = lab::RequestsBeside.new(run, server.url("/up"))
      alone = requests.pace(run.size)
      sockets.pace(run.size / 20, interval: 0.1, beside: -> { requests.pace(run.size) }) do
        broadcast.call(run, server, 1)
      end
      run.record(:alone_ms, alone.p99_ms)
      run.record(:beside_ms, requests.last.p99_ms)
      run.record(:times, requests.last.p99_ms / alone.p99_ms)
      requests.last
    end
    target nil, "p99 of requests beside broadcasts to 1,000 sockets / without", of: "Pelton, Rails", at_most: 2,
      unit: "times"
  end

  race "two workers", **rounds, size: {apart: 50}, full: 200 do
    about "20 sockets: the median delivery by two workers, and how much it is beyond that of one process"
    metric :added_ms, "added ms"
    also :p50_ms, "p50 ms"
    one = servers.pelton
    with = {
      "no service" => ->(run, &block) { block.call(servers.pelton("-w", "2")) },
      "Redis" => ->(run, &block) {
        lab::WebServer.serve(lab::WebPrograms.redis) do |redis|
          block.call(servers.pelton("-w", "2", "--pubsub", "redis://127.0.0.1:#{redis.port}"))
        end
      },
      "PostgreSQL" => ->(run, &block) do
        block.call(servers.pelton("-w", "2",
          "--pubsub", lab::Database::ALL.fetch("PostgreSQL").address(run, :rails, nil)))
      end
    }
    server { |processes, core, _| lab::Database::ALL.fetch("PostgreSQL").start(processes, core) }
    with.each do |name, service|
      contender(name, style: "direct", baseline: name == "no service") do |run|
        service.call(run) do |two|
          servers.serve(run, one) do |single, single_url|
            servers.serve(run, two) do |server, url|
              alone, both = [single_url, url].map do |address|
                lab::CableSockets.new(run, address, 20, channel: channel)
              end
              run.measure_server(server) do
                base = alone.pace(run.size, interval: 0.02) { broadcast.call(run, single, 1) }
                both.pace(run.size, interval: 0.02) { broadcast.call(run, server, 1) }.tap do |done|
                  run.record(:p50_ms, done.p50_ms)
                  run.record(:added_ms, done.p50_ms - base.p50_ms)
                end
              end
              [alone, both].each(&:close)
            end
          end
        end
      end
    end
    {"no service" => 0.5, "Redis" => 1, "PostgreSQL" => 2}.each do |name, most|
      target nil, "two workers, #{name}: added to the median delivery", of: name, at_most: most, unit: "ms"
    end
  end

  race "workers restarted", **rounds, size: {apart: 150}, full: 500, rounds: 3, rounds_per_process: 1 do
    about "1,000 clients that resume, 50 messages a second, while two workers are restarted one after the other"
    metric :missed, "messages missed", digits: 0
    also :returns, "clients back", digits: 0
    contender("Pelton, 2 workers", style: "direct", baseline: true) do |run|
      servers.serve(run, servers.pelton("-w", "2"), {"KEEP" => "1000"}) do |server, url|
        clients = lab::ResumingSockets.new(run, url, run.rehearsal? ? 50 : 1_000, channel: channel)
        run.measure_server(server) do
          started = Pelton::Clock.now
          run.size.times do |number|
            Process.kill("USR1", server.pid) if number == run.size / 5
            broadcast.call(run, server, 1)
            sleep 0.02
          end
          run.record(:missed, clients.missed(run.size))
          run.record(:returns, clients.returns)
          lab::WebLoad::Done.new(run.size, Pelton::Clock.now - started)
        end
        clients.close
      end
    end
    target nil, "1,000 clients that resume over a restart of two workers: messages missed", of: "Pelton, 2 workers",
      at_most: 0, unit: "messages"
  end
end
