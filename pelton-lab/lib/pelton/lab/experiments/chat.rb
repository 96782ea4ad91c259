# frozen_string_literal: true

require "tmpdir"
require "pelton/lab/web"
require "pelton/lab/web/cable_sockets"
require "pelton/lab/web/example_chat"
require "pelton/lab/web/signed_in_clients"

# The chat of Pelton's examples and the same pages by Rails, Roda and Sinatra, on the same data: whole pages for
# users who are signed in.
Pelton::Lab.web_experiment "chat" do
  about "a chat by Web and Sequel, and the same pages by Rails, Roda and Sinatra on Puma, Falcon and Pelton"

  lab = Pelton::Lab
  chat = lab::ExampleChat
  page = lab::SignedInClients::Page
  message = '<li class="message"'
  pages = {
    room: page.new(path: "/rooms/1", status: 200, personal: true, mark: message, count: 40),
    messages: page.new(path: "/rooms/1/messages?before=15000", status: 200, personal: false, mark: message, count: 40),
    sidebar: page.new(path: "/sidebar", status: 200, personal: true, mark: "<nav", count: 0),
    search: page.new(path: "/search?q=deploy", status: 200, personal: true, mark: "<li><p class=\"meta\">", count: 40)
  }
  post = page.new(path: "/rooms/1/messages", status: 201, personal: false)

  # Serves one of the chats and yields the server, its clients and the path of its database.
  serve = lambda do |run, way, cache, clients: 16, &block|
    Dir.mktmpdir("pelton-lab") do |folder|
      path = chat.copy(folder)
      lab::WebServer.serve(way.command, environment: chat.environment(way, path, cache), deadline: 60) do |server|
        block.call(server, lab::SignedInClients.new(run, server, chat.users(path, clients)), path)
      end
    end
  end

  # Compares the pages with those of the chat itself, for each user.
  compare = lambda do |run, clients, cache|
    serve.call(run, chat.ways.fetch("Pelton"), cache) do |_, reference|
      pages.each do |name, one|
        expected, actual = reference.canonical(one).zip(clients.canonical(one)).find { |mine, other| mine != other }
        next unless expected
        theirs, ours = expected.lines.zip(actual.lines).find { |mine, other| mine != other }
        run.wrong("#{name} differs from the chat's: #{theirs.inspect} is #{ours.inspect}")
      end
    end
  end

  # Sends the requests of a page, and records what each took.
  load = lambda do |run, server, clients, name, one, requests|
    before = server.usage.cpu
    clients.load(one, requests).tap do |done|
      run.record("#{name}_cpu", (server.usage.cpu - before) / done.requests * 1e6)
      run.record("#{name}_us", done.seconds / done.requests * 1e6)
      run.record("#{name}_p50", done.p50_ms)
      run.record("#{name}_p99", done.p99_ms)
    end
  end

  read = lambda do |run, way, cache|
    serve.call(run, way, cache) do |server, clients|
      compare.call(run, clients, cache) if run.rehearsal?
      pages.each_value { |one| clients.load(one, 32) }
      run.measure_server(server) do
        all = pages.map { |name, one| load.call(run, server, clients, name, one, run.size * way.share) }
        lab::WebLoad::Done.new(all.sum(&:requests), all.sum(&:seconds))
      end
      clients.close
    end
  end

  write = lambda do |run, way, cache|
    serve.call(run, way, cache) do |server, clients, path|
      run.measure_server(server) { load.call(run, server, clients, :post, post, run.size * way.share) }
      run.expect(0, chat.lost(path, clients.acknowledged),
        "the number of acknowledged posts that are not in the database")
      clients.close
    end
  end

  columns = lambda do |race, names|
    race.metric :"#{names.first}_us", "#{names.first} us", digits: 0
    names.drop(1).each { |name| race.also :"#{name}_us", "#{name} us", digits: 0 }
    names.each { |name| race.also :"#{name}_cpu", "#{name} CPU us", digits: 0 }
    names.each { |name| %w[p50 p99].each { |part| race.also :"#{name}_#{part}", "#{name} #{part} ms", digits: 1 } }
  end
  seeded = Struct.new(:version, :port)
  small = {size: {apart: 160}, rounds: 3, rounds_per_process: 3, rehearsal: 16, full: 1_000,
           unit: "requests of each page to Rails"}
  # Requests/s of a room's page in the published table.
  published = lambda do |race, rates|
    race.past("the published table", source: "Campfire and its ports, October 2026, Ryzen 7 8700GE, 4 threads, 16 " \
      "clients; seconds for 160 times the room's page") do
      rates.each { |name, rate| row(name, real: 160 / rate.to_f) }
    end
  end

  {
    "nothing cached" => ["none", 8, {"Rails" => 221}],
    "fragments" => ["fragments", {room: [60, 25], messages: [70, 15], sidebar: [75, 12], search: [50, 20]},
      {"Rails optimised" => 529, "Sinatra, Falcon" => 11_349, "Rage, Sequel" => 10_094,
       "Roda, Sequel, Falcon" => 12_431, "Rust" => 21_155}],
    "finished pages" => ["pages", nil, {
      "Rails upstream" => 3_189,
      "Sinatra, Falcon" => 22_266,
      "Rage, Sequel" => 21_106,
      "Roda, Sequel, Falcon" => 24_769,
      "Rust" => 42_282
    }]
  }.each do |title, (cache, times, rates)|
    race title, **small do
      about "16 users read a room, older messages, the sidebar and a search's results; one process on one core"
      server { seeded.new("SQLite, #{File.basename(chat.seeds)}", 1) }
      columns.call(self, pages.keys)
      chat.ways.each do |name, way|
        contender(name, baseline: name == "Puma, Rails", **way.options) { |run| read.call(run, way, cache) }
      end
      if cache == "fragments"
        contender("Puma, Rails, nothing cached", **chat.ways["Puma, Rails"].options) do |run|
          read.call(run, chat.ways["Puma, Rails"], "none")
        end
      end
      published.call(self, rates)

      pages.each_key do |name|
        metric = :"#{name}_us"
        if cache == "fragments"
          plain, kept = times[name]
          target nil, "#{name}, fragments: time / Rails on Puma with nothing cached (#{plain} times its requests/s)",
            of: "Pelton", to: "Puma, Rails, nothing cached", at_most: 1 / plain.to_f, metric: metric
          target nil, "the same / the same Rails with fragments (#{kept} times)", of: "Pelton", to: "Puma, Rails",
            at_most: 1 / kept.to_f, metric: metric
          ["Falcon, Roda", "Puma, Roda"].each do |other|
            target nil, "the same / #{other} (twice)", of: "Pelton", to: other, at_most: 0.5, metric: metric
          end
        elsif cache == "none"
          target nil, "#{name}, nothing cached: time / Rails on Puma (#{times} times)", of: "Pelton",
            to: "Puma, Rails", at_most: 1 / times.to_f, metric: metric
        end
        target nil, "#{name}, #{title}: the application on Rails: time on Pelton / on Puma (1.1 times)",
          of: "Pelton, Rails", to: "Puma, Rails", at_most: 1 / 1.1, metric: metric
        target nil, "the same: the 99th percentile", of: "Pelton, Rails", to: "Puma, Rails", at_most: 0.9,
          metric: :"#{name}_p99"
      end
    end
  end

  race "posts", **small, size: {apart: 320} do
    about "16 users post messages, which are broadcast; fragments are kept; each acknowledged post is looked for"
    server { seeded.new("SQLite, #{File.basename(chat.seeds)}", 1) }
    columns.call(self, [:post])
    chat.ways.each do |name, way|
      contender(name, baseline: name == "Puma, Rails", **way.options) { |run| write.call(run, way, "fragments") }
    end
    target nil, "a post with its broadcast: time / Rails on Puma (10 times)", of: "Pelton", to: "Puma, Rails",
      at_most: 0.1
    target nil, "the same / Roda on Falcon (1.5 times)", of: "Pelton", to: "Falcon, Roda", at_most: 1 / 1.5
    target nil, "the same: the 99th percentile / Rails'", of: "Pelton", to: "Puma, Rails", at_most: 0.2,
      metric: :post_p99
    target nil, "the same: Rails on Pelton / on Puma (1.1 times)", of: "Pelton, Rails", to: "Puma, Rails",
      at_most: 1 / 1.1
  end

  race "200 users", **small, size: {apart: 200}, full: 200, rehearsal: 20, rounds: 3, rounds_per_process: 1,
    unit: "users" do
    about "the memory of a process whose users have signed in, read a room, and wait for messages, each with a socket"
    metric :idle_mb, "MB", digits: 1
    server { seeded.new("SQLite, #{File.basename(chat.seeds)}", 1) }
    chat.ways.slice("Puma, Rails", "Pelton, Rails", "Pelton").each do |name, way|
      contender(name, baseline: name == "Puma, Rails", **way.options) do |run|
        serve.call(run, way, "fragments", clients: run.size) do |server, clients|
          origin = {"Origin" => server.url("").chomp("/")}
          sockets = lab::CableSockets.new(run, server.url("/cable").sub("http", "ws"), run.size,
            channel: {channel: "RoomChannel", id: 1},
            headers: clients.cookies.map { |cookie| {"Cookie" => cookie, **origin} })
          run.measure_server(server) { clients.load(pages[:room], run.size) }
          run.record(:idle_mb, server.usage.rss_kb / 1024.0)
          sockets.close
        end
      end
    end
    target nil, "200 users who have signed in, with their sockets: memory", of: "Pelton", at_most: 100, unit: "MB"
  end

  race "two workers", **small do
    about "the same pages with fragments by two processes, not pinned"
    server { seeded.new("SQLite, #{File.basename(chat.seeds)}", 1) }
    columns.call(self, pages.keys)
    chat.ways(workers: 2).slice("Puma, Rails", "Puma, Roda", "Falcon, Roda", "Pelton").each do |name, way|
      contender(name, baseline: name == "Puma, Rails", **way.options) { |run| read.call(run, way, "fragments") }
    end
  end
end
