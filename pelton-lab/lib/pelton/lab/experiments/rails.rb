# frozen_string_literal: true

require "json"
require "tmpdir"
require "pelton/lab/applications/chat"
require "pelton/lab/database"
require "pelton/lab/pinning"
require "pelton/lab/web"
require "pelton/lab/web/visitor"

# A Rails application, the same on each server: a chat with users who are signed in, and pages that do one thing each.
# Most Rails applications compute more than they wait, so those pages are here as well.
Pelton::Lab.web_experiment "rails" do |programs|
  about "a Rails application on Pelton, Puma and Falcon: pages of a chat, pages that wait, posts"

  lab = Pelton::Lab
  chat = programs.application("chat")
  redis = lab::Programs.find("redis-server") && Gem::Specification.find_all_by_name("redis").any?
  seen =
    redis ? "fragments in Redis #{lab::Programs.version("redis-server")}" : "fragments in the memory of each process"

  # A way to serve it: the command line, the requests that it runs at once (nil: all that come), the environment.
  way = Struct.new(:command, :threads, :environment, :options)
  ways = {
    "Puma, 5 threads" => way.new(programs.puma(chat), 5, {}, {gem: "rails", with: %w[puma sqlite3]}),
    "Pelton" => way.new(programs.pelton(chat), nil, {"RAILTIE" => "pelton/rails"},
      {gem: "pelton-rails", with: %w[rails sqlite3], style: "direct"}),
    "Puma, 3 threads" => way.new(programs.puma(chat, threads: 3), 3, {}, {gem: "puma", with: %w[rails sqlite3]}),
    # It would have Bundler hide all gems but those of one group.
    "Falcon" => way.new(programs.falcon(chat), nil, {"FIBERS" => "1", "BUNDLE_GEMFILE" => nil},
      {gem: "falcon", with: %w[rails sqlite3], style: "direct", rounds: 3})
  }

  # Yields the addresses of the other programs, on the clients' core: the cache, and where it is asked, a
  # service that takes 50 ms.
  beside = lambda do |run, path, &block|
    start = lambda do |command, **options, &started|
      lab::WebServer.serve(->(*place) { [*lab::Pinning.words(run.server_core), *command.call(*place)] },
        **options, &started)
    end
    with_service = lambda do |addresses|
      next block.call(addresses) unless path == "/upstream"
      start.call(programs.pelton(programs.application("slow")), environment: {"SECONDS" => "0.05"}) do |service|
        block.call({**addresses, "UPSTREAM" => service.url})
      end
    end
    if redis
      start.call(programs.redis) { |cache| with_service.call({"REDIS" => "redis://127.0.0.1:#{cache.port}"}) }
    else
      with_service.call({})
    end
  end

  # Serves the chat, and yields the server with a visitor who is signed in.
  visit = lambda do |command, environment, &block|
    lab::WebServer.serve(command, environment:, deadline: 60) do |server|
      visitor = lab::WebVisitor.new(server)
      visitor.post("/session?user=1")
      visitor.get("/rooms/1") # it brings the token
      block.call(server, visitor)
    end
  end

  # Measures one of the ways under a load. The answers are checked before and after; in the untimed round they are
  # compared with Puma's. The rows of posts are counted.
  serve = lambda do |run, database, one, path, clients:, post:, &load|
    Dir.mktmpdir("pelton-lab") do |folder|
      database.open(run, folder) { |opened| Chat.fill(opened) }
      rows = -> { database.open(run, folder) { |opened| opened[File.basename(path).to_sym].count } }
      beside.call(run, path) do |addresses|
        environment = {
          "RUBYLIB" => [lab::Installation::LIBRARIES, ENV["RUBYLIB"]].compact.join(File::PATH_SEPARATOR),
          "DATABASE" => database.address(run, :rails, folder), "POOL" => (one.threads || clients).to_s,
          "SLOW" => database.slow_query("users"), **addresses
        }
        visit.call(one.command, {**environment, **one.environment}) do |server, visitor|
          check = lambda do
            answer = post ? visitor.post(path, post) : visitor.get(path)
            right = post ? answer.body.include?(JSON.parse(post).values.first) : Chat.right?(path, answer.body)
            run.expect([post ? "201" : "200", true], [answer.code, right],
              "an answer's status, and whether it is right")
          end
          2.times { check.call }
          # It opens all connections to the database.
          unless post
            lab::WebLoad.new(run).ab(server.url(path), requests: 2 * clients, connections: clients, keep_alive: true,
              headers: visitor.headers)
          end
          if run.rehearsal?
            visit.call(programs.puma(chat, threads: 1), environment) do |_, reference|
              run.expect(reference.same(path, post:), visitor.same(path, post:), "an answer, which Puma gives as well,")
            end
          end
          posted = post ? rows.call : 0
          run.measure_server(server) do
            load.call(run, server, visitor).tap do |done|
              %i[p50_ms p99_ms].each { |name| run.record(name, done[name]) }
              posted += done.requests
            end
          end
          run.expect(true, rows.call >= posted, "whether every post that was answered is in the database") if post
          check.call
        end
      end
    end
  end

  # The contenders of a race, under a load of one page: for so many seconds, or so many requests, as the race's unit
  # says.
  contenders = lambda do |race, database, path, names:, clients: 16, post: nil|
    database = lab::Database::ALL.fetch(database)
    load = lambda do |run, server, visitor|
      with, url = lab::WebLoad.new(run), server.url(path)
      if race.unit == "s"
        next with.wrk(url, seconds: run.size, connections: clients, post: post, headers: visitor.headers)
      end
      with.ab(url, requests: run.size, connections: clients, keep_alive: true, post: post, headers: visitor.headers)
    end
    race.server { |processes, core, _| database.start(processes, core) }
    race.also :cpu_us_per_operation, "CPU us/op", digits: 0
    race.also :p50_ms, "p50 ms", digits: 1
    race.also :p99_ms, "p99 ms", digits: 1
    names.each do |name|
      one = ways.fetch(name)
      race.contender(name, style: "blocking", baseline: name == names.first, **one.options) do |run|
        serve.call(run, database, one, path, clients:, post:, &load)
      end
    end
  end

  # The targets of a page: how many times Puma's requests/s, and which part of its 99th percentile.
  # Of the 1.05 ms of Rails' hello on Pelton nearly all is Rails' own, and a page of the chat computes for 9 to 34 ms on
  # either server. Puma answers fewer posts on SQLite because its process stands still while one of them waits for the
  # lock.
  targets = lambda do |race, title, speed, tail, to: "Puma, 5 threads"|
    race.target nil, "#{title}: time a request / #{to} (#{speed} times its requests/s)", of: "Pelton", to: to,
      at_most: 1 / speed.to_f
    if tail
      race.target nil, "the same: the 99th percentile / #{to}", of: "Pelton", to: to, at_most: tail, metric: :p99_ms
    end
  end

  rounds = {size: {apart: 1}, rounds: 6, rounds_per_process: 3, rehearsal: 1, full: 5, unit: "s"}
  # Where a request takes long, all of a second's answers may be under way at its end; and a server may give none in a
  # second.
  by_number = rounds.merge(size: {apart: 160}, rehearsal: 16, full: 800, unit: "requests")
  few = ["Puma, 5 threads", "Pelton", "Falcon"]

  {"a room" => "/rooms/1", "messages" => "/rooms/1/messages?before=2001", "the sidebar" => "/sidebar",
   "a search" => "/search?q=#{Chat::SEARCHED}"}.each do |title, path|
    %w[SQLite PostgreSQL].each do |database|
      race "#{title}, #{database}", **by_number do
        about "a page of the chat for 16 clients, one process on one core; #{seen}"
        contenders.call(self, database, path, names: few)
        targets.call(self, "#{title}, #{database}", 1.3, 0.8)
        target nil, "the same: memory / Puma's", of: "Pelton", at_most: 1.0, metric: :rss_mb if title == "a room"
      end
    end
  end

  {"hello" => "/hello", "five names" => "/names", "three queries" => "/queries"}.each do |title, path|
    race title, **rounds do
      about "a fast page for 16 clients, one process on one core, SQLite; #{seen}"
      contenders.call(self, "SQLite", path, names: few + ["Puma, 3 threads"])
      targets.call(self, title, 1.7, 0.6)
      targets.call(self, "the same", 1.5, nil, to: "Puma, 3 threads")
    end
  end

  [["20 ms of waiting", "/nap", 64, "SQLite", 5], ["a query of 20 ms, PostgreSQL", "/query", 64, "PostgreSQL", 4],
    ["a query of 20 ms, MariaDB", "/query", 64, "MariaDB", 4],
    ["50 ms of another service", "/upstream", 100, "SQLite", 8]].each do |title, path, clients, database, speed|
    race title, **by_number, size: {apart: 500} do
      about "a page that waits, for #{clients} clients, one process on one core"
      contenders.call(self, database, path, names: few, clients: clients)
      targets.call(self, title, speed, nil)
    end
  end

  race "a post", **by_number, size: {apart: 500} do
    about "20 clients insert a row each into SQLite, again and again"
    contenders.call(self, "SQLite", "/notes", names: few, clients: 20,
      post: JSON.generate({text: "We have ordered tea."}))
    targets.call(self, "a post", 1.2, 0.5)
  end
end
