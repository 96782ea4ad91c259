# frozen_string_literal: true

require "pelton/lab/database"
require "pelton/lab/web"

# "AsyncRecord" (2010): a page of five user names from a database, by a model that does not block and one that does.
# In the article ab -c 100 -n 1000 saw 1,100 requests/s where Rails answered 44.
Pelton::Lab.web_experiment "models" do |programs|
  about "pages from a database by models: Sequel and ActiveRecord on pelton-web, Rails on Pelton, Roda with Sequel " \
    "and Rails on Puma"

  sequel = programs.application("models")
  active_record = programs.application("models_active_record")
  roda = programs.application("models_roda")
  rails = programs.application("models_rails")

  # Users with numbers from 1 to 10,000, unless another contender of the race has filled the table already.
  fill = lambda do |kind, run, folder|
    kind.open(run, folder) do |database|
      next if database.table_exists?(:users) && database[:users].count == 10_000
      database.create_table(:users) do
        primary_key :id
        String :username
        Integer :visits, default: 0
      end
      database.create_table(:notes) { primary_key(:id).then { String :text } }
      (1..10_000).each_slice(1000) do |ids|
        database[:users].import(%i[id username], ids.map { |id| [id, "user #{id}"] })
      end
    end
  end
  names = (1..5).map { |id| "user #{id}" }.join("\n")
  expected = {
    "/users" => ->(body) { body == names },
    "/slow" => ->(body) { body == names },
    "/insert" => ->(body) { body.match?(/\A\d+\z/) }
  }

  # The contenders of a race, which load a page of theirs by the block.
  contenders = lambda do |race, name, path, pool: 20, &load|
    database = Pelton::Lab::Database::ALL.fetch(name)
    race.also :cpu_us_per_operation, "CPU us/op", digits: 0
    race.also :grown_mb, "grown by, MB", digits: 0
    race.also :p99_ms, "p99 ms", digits: 1
    race.server { |processes, core, _| database.start(processes, core) }

    serve = lambda do |run, library, command, connections: pool, **more|
      Dir.mktmpdir("pelton-lab") do |folder|
        fill.call(database, run, folder)
        environment = {
          # `pelton serve` starts Ruby again, without the options that it was started with.
          "RUBYLIB" => [Pelton::Lab::Installation::LIBRARIES, ENV["RUBYLIB"]].compact.join(File::PATH_SEPARATOR),
          "DATABASE" => database.address(run, library, folder), "POOL" => connections.to_s,
          "SLOW" => database.slow_query("users"), **more
        }
        Pelton::Lab::WebServer.serve(command, environment:, deadline: 60) do |server|
          check = lambda do
            answer = server.get(path)
            run.expect(["200", true], [answer.code, expected.fetch(path).call(answer.body)],
              "an answer's status, and whether it has the rows")
          end
          check.call
          run.measure_server(server) do
            load.call(run, server).tap { |done| run.record(:p99_ms, done.p99_ms) }
          end
          check.call
        end
      end
    end

    race.baseline("Rails, Puma", style: "blocking", gem: "rails") do |run|
      serve.call(run, :rails, programs.puma(rails), connections: 5)
    end
    race.contender("Sequel, pelton-web", style: "direct", gem: "pelton-web") do |run|
      serve.call(run, :sequel, programs.pelton(sequel))
    end
    race.contender("ActiveRecord, pelton-web", style: "direct", gem: "pelton-rails",
      with: %w[pelton-web activerecord sqlite3]) { |run| serve.call(run, :rails, programs.pelton(active_record)) }
    race.contender("Rails, Pelton", style: "direct", gem: "pelton-rails", with: %w[rails sqlite3]) do |run|
      serve.call(run, :rails, programs.pelton(rails), "RAILTIE" => "pelton/rails")
    end
    race.contender("Roda, Sequel, Puma", style: "blocking", gem: "roda") do |run|
      serve.call(run, :sequel, programs.puma(roda), connections: 5)
    end
  end

  rounds = {rounds: 6, rounds_per_process: 3, unit: "s", rehearsal: 1, full: 5}

  # The targets of the page: how many times the requests/s of Rails and of Roda, and with ActiveRecord those of Rails.
  targets = lambda do |race, title, row, rails:, roda:, active_record:|
    race.target row, "#{title}: time a request / Rails on Puma (#{rails} times its requests/s)",
      of: "Sequel, pelton-web", at_most: 1 / rails.to_f, digits: 3
    race.target row, "the same / Roda with Sequel on Puma (#{roda} times its requests/s)",
      of: "Sequel, pelton-web", to: "Roda, Sequel, Puma", at_most: 1 / roda.to_f
    race.target nil, "the same with ActiveRecord / Rails on Puma (#{active_record} times its requests/s)",
      of: "ActiveRecord, pelton-web", at_most: 1 / active_record.to_f, digits: 3
  end
  wanted = {
    "SQLite" => [18, {rails: 25, roda: 4, active_record: 8}],
    "MariaDB" => [17, {rails: 18, roda: 3, active_record: 6}]
  }

  Pelton::Lab::Database::ALL.each_key do |name|
    race "five users, #{name}", size: {apart: 1_000}, rehearsal: 100, rounds: 6, rounds_per_process: 3,
      unit: "requests" do
      about "the article's page: ab -c 100 -n 1000, a connection for each request; then 42 requests/s for Rails and " \
        "1,100 for AsyncRecord"
      contenders.call(self, name, "/users") do |run, server|
        Pelton::Lab::WebLoad.new(run).ab(server.url("/users"), requests: run.size, connections: 100,
          bytes: names.bytesize)
      end

      past '"AsyncRecord"', source: "2010, ab -c 100 -n 1000", size: 1_000 do
        row "Rails 2.3.5", style: "blocking", real: 1000 / 44.0
        row "AsyncRecord, Fastr", style: "callback", real: 1000 / 1100.0
      end

      if wanted.key?(name)
        row, times = wanted.fetch(name)
        targets.call(self, "five users, #{name}", row, **times)
      end
    end

    race "five users, 32 connections, #{name}", size: {apart: 1}, **rounds do
      about "the same page on connections that stay, as a proxy keeps them"
      contenders.call(self, name, "/users") do |run, server|
        Pelton::Lab::WebLoad.new(run).wrk(server.url("/users"), seconds: run.size, connections: 32)
      end
      targets.call(self, "five users, 32 connections, #{name}", nil, **wanted.fetch(name).last) if wanted.key?(name)
    end
  end

  race "a query of 20 ms, PostgreSQL", size: {apart: 1}, **rounds do
    about "each query waits 20 ms in the database; a pool of 100 could answer 5,000 requests/s"
    contenders.call(self, "PostgreSQL", "/slow", pool: 100) do |run, server|
      Pelton::Lab::WebLoad.new(run).wrk(server.url("/slow"), seconds: run.size, connections: 256)
    end
    target 19, "20 ms queries, a pool of 100: Sequel (0.85 of 5,000 requests/s)", of: "Sequel, pelton-web",
      at_most: 200 / 0.85, metric: :us_per_operation, unit: "us", digits: 0
    target nil, "the same: ActiveRecord (0.7 of 5,000 requests/s)", of: "ActiveRecord, pelton-web", at_most: 200 / 0.7,
      metric: :us_per_operation, unit: "us", digits: 0
  end

  race "an insert, SQLite", size: {apart: 3}, **rounds do
    about "an insert for 64 connections"
    contenders.call(self, "SQLite", "/insert") do |run, server|
      Pelton::Lab::WebLoad.new(run).wrk(server.url("/insert"), seconds: run.size)
    end
    target nil, "an insert into SQLite: time a request / Rails on Puma (1.5 times its requests/s)",
      of: "Sequel, pelton-web", at_most: 1 / 1.5
    target nil, "the same: p99 / Rails'", of: "Sequel, pelton-web", at_most: 0.2, metric: :p99_ms
  end
end
