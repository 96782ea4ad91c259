# frozen_string_literal: true

require "json"
require "net/http"
require "tmpdir"
require "pelton/lab/database"
require "pelton/lab/web"
require "pelton/lab/web/event_streams"
require "pelton/lab/web/rails_engines"

# Jobs that wait for a language model, in workers of Solid Queue, and event streams. The gems are those of
# rails_engines; Ruby 3.3 and later have them: RUBY=/path/to/bin/ruby.
Pelton::Lab.web_experiment "jobs" do |programs|
  about "jobs that wait for a slow server, in threads and in fibers, and streams of events"

  lab = Pelton::Lab
  gems = lab::RailsEngines.new
  available = lambda do
    if Gem::Version.new(gems.version || 0) < Gem::Version.new("3.3")
      raise lab::Unavailable,
        "Solid Queue's fibers on async need Ruby 3.3, this is #{gems.version}: RUBY=/path/to/bin/ruby"
    end
    gems.unavailable&.then { |reason| raise lab::Unavailable, reason }
  end

  # A worker: the environment, and the class of its pool. Each thread has its connection to the database, of which
  # jobs that wait for something else need few.
  way = Struct.new(:environment, :pool)
  threads = lambda do |count|
    way.new({"WORKER" => "threads #{count}", "POOL" => (count + 5).to_s}, "SolidQueue::ThreadPool")
  end
  fibers = {
    "500 fibers, async" => way.new({"WORKER" => "fibers 500", "POOL" => "6"}, "SolidQueue::FiberPool"),
    "500 fibers, Pelton" => way.new({"WORKER" => "fibers 500", "POOL" => "6", "RAILTIE" => "pelton/rails"},
      "Pelton::Rails::SolidQueue::FiberPool")
  }
  worker =
    gems.command(->(port, _) do
      [RbConfig.ruby, "-I", lab::Installation::LIBRARIES, programs.application("jobs/worker", "rb"), port.to_s]
    end)

  # Runs the jobs, and checks what they have written.
  perform = lambda do |run, server, one, job, count|
    body = Net::HTTP.start("127.0.0.1", server.port, read_timeout: 1800) do |http|
      http.get("/run?job=#{job}&count=#{count}").body
    end
    result = JSON.parse(body, symbolize_names: true)
    run.expect({right: true, failed: 0, pool: one.pool}, result.slice(:right, :failed, :pool), "the jobs' result")
    result
  end

  %w[SQLite PostgreSQL].each do |name|
    database = lab::Database::ALL.fetch(name)
    {"tokens" => ["TokenJob", 400, 2000, 25,
      "jobs that receive 50 tokens in two seconds, publish each, and store the text"],
     "rows" => ["RowJob", 1000, 5000, 3, "jobs that update a row"]}.each do |title, (job, size, full, count, what)|
      baseline = "#{count} threads"
      race "#{title}, #{name}", size: {apart: size}, rounds: 3, rehearsal: 20, full: full, unit: "jobs" do
        about "#{what}; one worker"
        server do |processes, core, _|
          available.call
          database.start(processes, core)
        end
        also :cpu_us_per_operation, "CPU us/job", digits: 0
        also :grown_mb, "grown by MB", digits: 0
        also :connections, "connections", digits: 0
        also :p99_ms, "first token, p99 ms", digits: 0 if job == "TokenJob"
        {baseline => threads.call(count), **fibers}.each do |label, one|
          contender label, style: (label == baseline) ? "blocking" : "direct", baseline: label == baseline do |run|
            Dir.mktmpdir("pelton-lab") do |folder|
              lab::WebServer.serve(programs.pelton(programs.application("jobs/upstream"))) do |upstream|
                environment = {**gems.environment, **one.environment,
                  "DATABASE" => database.address(run, :rails, folder), "UPSTREAM" => upstream.port.to_s}
                lab::WebServer.serve(worker, environment: environment, deadline: 60) do |served|
                  perform.call(run, served, one, job, 5) # it opens connections
                  run.measure_server(served) do
                    result = perform.call(run, served, one, job, run.size)
                    run.record(:connections, result[:connections])
                    run.record(:p99_ms, result[:p99_ms]) if result[:p99_ms]
                    lab::WebLoad::Done.new(run.size, result[:seconds])
                  end
                end
              end
            end
          end
        end
        target nil, "#{title}, #{name}: time of a job on Pelton / in #{baseline}", of: "500 fibers, Pelton",
          to: baseline, at_most: (job == "TokenJob") ? 1 / 8.0 : 1.0
        target nil, "the same / on async", of: "500 fibers, Pelton", to: "500 fibers, async", at_most: 1.0
        target nil, "#{title}, #{name}: CPU time of a job on Pelton / in #{baseline}", of: "500 fibers, Pelton",
          to: baseline, at_most: 1.0, metric: :cpu_us_per_operation
        target nil, "the same / on async", of: "500 fibers, Pelton", to: "500 fibers, async", at_most: 1.0,
          metric: :cpu_us_per_operation
      end
    end
  end

  # Puma 8 starts further threads for requests that say that they wait.
  puma = lambda do |port, folder|
    File.write(config = File.join(folder, "puma.rb"),
      "bind 'tcp://127.0.0.1:#{port}'\nthreads 5, 5\nworkers 0\nmax_io_threads 1100 if respond_to?(:max_io_threads)\n" \
      "environment 'production'\nrackup #{programs.application("jobs/streams").inspect}")
    [RbConfig.ruby, "-e", 'require "puma/cli"; Puma::CLI.new(ARGV).run', "--", "-q", "-C", config]
  end
  streams = programs.application("jobs/streams")

  race "event streams", size: {apart: 200}, rounds: 3, rehearsal: 10, full: 1000, unit: "streams" do
    about "streams of 50 events in two seconds, all at once, and 200 pages a second beside them; one process on one " \
      "core"
    server { available.call.then { lab::WebLoad::Program.new("plain sockets") } }
    also :cpu_us_per_operation, "CPU us/stream", digits: 0
    also :first_ms, "first event, p99 ms", digits: 0
    also :gap_ms, "gap, p99 ms", digits: 0
    also :page_ms, "page, p99 ms", digits: 1
    also :alone_ms, "without streams", digits: 1
    also :kb, "KB/stream", digits: 0
    {"Puma 8" => puma, "Falcon" => programs.falcon(streams),
     "Pelton" => programs.pelton(streams)}.each do |label, command|
      contender label, style: (label == "Puma 8") ? "blocking" : "direct", baseline: label == "Puma 8" do |run|
        lab::WebServer.serve(gems.command(command), environment: gems.environment, deadline: 60) do |served|
          clients = lab::EventStreams.new(run, served, events: 50)
          run.expect("a page", served.get.body, "a page")
          run.measure_server(served) do
            clients.read(run.size, 400).tap do |done|
              %i[first_ms gap_ms page_ms alone_ms].each { |one| run.record(one, done[one]) }
            end
          end
          run.record(:kb, run[:grown_mb] * 1024 / run.size)
          run.record(:page_ratio, run[:page_ms] / run[:alone_ms])
        end
      end
    end
    target nil, "event streams: the first event, p99", of: "Pelton", at_most: 50, metric: :first_ms, unit: "ms",
      digits: 0
    target nil, "the same: the next event, which is due after 40 ms, p99", of: "Pelton", at_most: 60, metric: :gap_ms,
      unit: "ms", digits: 0
    target nil, "the same: pages beside them, p99 / without streams", of: "Pelton", at_most: 2, metric: :page_ratio,
      unit: "times"
    target nil, "the same: pages beside them, p99 / Falcon's", of: "Pelton", to: "Falcon", at_most: 1.0,
      metric: :page_ms
    target nil, "the same: memory of a stream / Falcon's", of: "Pelton", to: "Falcon", at_most: 0.5, metric: :kb
  end
end
