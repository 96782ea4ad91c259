# frozen_string_literal: true

require "json"
require "tmpdir"
require "pelton/lab/applications/rails_engines/forum/data"
require "pelton/lab/applications/rails_engines/site/data"
require "pelton/lab/database"
require "pelton/lab/pinning"
require "pelton/lab/web"
require "pelton/lab/web/page_clients"
require "pelton/lab/web/rails_engines"
require "pelton/lab/web/visitor"

# Rails applications that were not written for Pelton: engines of the gem registry, each in a small application. Their
# pages take as long as those of applications do, they ask the database some dozen times, and they start threads of
# their own.
Pelton::Lab.web_experiment "rails_engines" do |programs|
  about "Rails applications that others wrote, on Pelton and Puma: the forum Thredded, the CMS Alchemy"

  lab = Pelton::Lab
  engines = lab::RailsEngines.new
  clients = 16
  redis = lab::Programs.find("redis-server")
  seen =
    redis ? "fragments in Redis #{lab::Programs.version("redis-server")}" : "fragments in the memory of each process"

  # An application: its engine, its own name, the module of its data, and whether visitors sign in.
  application = Struct.new(:title, :name, :data, :sign_in)
  forum = application.new("Thredded", "forum", Forum, true)
  site = application.new("Alchemy", "site", Site, false)

  # A way to serve it: what gives the command line, the requests that it runs at once (nil: all that come), the
  # environment.
  way = Struct.new(:command, :threads, :environment)
  puma = ->(threads) { way.new(->(app) { programs.puma(app, threads:) }, threads, {}) }
  ways = {"Puma, 3 threads" => puma.call(3), "Puma, 5 threads" => puma.call(5),
          "Pelton" => way.new(->(app) { programs.pelton(app) }, nil, {"RAILTIE" => "pelton/rails"})}

  # Yields the variables that name the cache, which runs next to the server, on the clients' core.
  cached = lambda do |run, &block|
    next block.call({}) unless redis
    command = ->(*place) { [*lab::Pinning.words(run.server_core), *programs.redis.call(*place)] }
    lab::WebServer.serve(command) { |cache| block.call({"REDIS" => "redis://127.0.0.1:#{cache.port}"}) }
  end

  # Serves an application, and yields the server with a visitor who is signed in.
  visit = lambda do |app, one, environment, path, &block|
    command = engines.command(one.command.call(engines.application(app.name)))
    lab::WebServer.serve(command, environment: {**engines.environment, **environment, **one.environment},
      deadline: 60) do |server|
      visitor = lab::WebVisitor.new(server, encoding: "gzip")
      visitor.post("/session?user=1") if app.sign_in
      visitor.get(path) # it brings the token
      block.call(server, visitor)
    end
  end

  # Measures one of the ways under a load. The answers are checked before and after; in the untimed round they are
  # compared with Puma's.
  serve = lambda do |run, app, database, one, path, post|
    Dir.mktmpdir("pelton-lab") do |folder|
      address = database.address(run, :rails, folder)
      engines.fill(app.name, address)
      cached.call(run) do |cache|
        environment = {"DATABASE" => address, "POOL" => (one.threads || clients).to_s, **cache}
        visit.call(app, one, environment, path) do |server, visitor|
          check = lambda do
            answer = post ? visitor.post(path, post) : visitor.get(path)
            right = post ? answer["location"].to_s.include?(path) : app.data.right?(path, answer.body)
            run.expect([post ? "302" : "200", true], [answer.code, right],
              "an answer's status, and whether it is right")
          end
          2.times { check.call }
          if run.rehearsal?
            visit.call(app, ways["Puma, 3 threads"], environment, path) do |_, reference|
              run.expect(reference.same(path, post:), visitor.same(path, post:), "an answer, which Puma gives as well,")
            end
          end
          load = ->(requests) {
            lab::PageClients.new(run, server, clients, visitor.headers).load(path, requests, post:,
              status: post ? 302 : 200)
          }
          load.call(2 * clients) # it opens all connections to the database
          run.measure_server(server) do
            load.call(run.size).tap { |done| %i[p50_ms p99_ms].each { |name| run.record(name, done[name]) } }
          end
          check.call
        end
      end
    end
  end

  # The contenders of a race, under a load of one page.
  contenders = lambda do |race, app, database, path, post: nil|
    race.server do |processes, core, _|
      engines.unavailable&.then { |reason| raise lab::Unavailable, reason }
      database.start(processes, core)
    end
    race.also :cpu_us_per_operation, "CPU us/op", digits: 0
    race.also :p50_ms, "p50 ms", digits: 1
    race.also :p99_ms, "p99 ms", digits: 1
    ways.each do |name, one|
      race.contender(name, style: (name == "Pelton") ? "direct" : "blocking",
        baseline: name == ways.keys.first) { |run| serve.call(run, app, database, one, path, post) }
    end
  end

  targets = lambda do |race, title|
    race.target nil, "#{title}: time a request / Puma's with 3 threads (1.0 times its requests/s)", of: "Pelton",
      to: "Puma, 3 threads", at_most: 1.0
    race.target nil, "the same: the 99th percentile", of: "Pelton", to: "Puma, 3 threads", at_most: 1.0, metric: :p99_ms
  end

  rounds = {size: {apart: 160}, rounds: 6, rounds_per_process: 3, rehearsal: 16, full: 800, unit: "requests"}

  [forum, site].each do |app|
    %w[SQLite PostgreSQL].each do |database|
      app.data.pages.each do |page, path|
        title = "#{app.title}, #{page}, #{database}"
        race title, **rounds do
          about "a page for #{clients} clients, one process on one core, compressed; #{seen}"
          contenders.call(self, app, lab::Database::ALL.fetch(database), path)
          targets.call(self, title)
        end
      end
    end
  end

  path, reply = Forum.reply
  %w[SQLite PostgreSQL].each do |database|
    title = "Thredded, a reply, #{database}"
    race title, **rounds do
      about "a post to a topic for #{clients} clients, one process on one core; #{seen}"
      contenders.call(self, forum, lab::Database::ALL.fetch(database), path, post: JSON.generate(reply))
      targets.call(self, title)
    end
  end
end
