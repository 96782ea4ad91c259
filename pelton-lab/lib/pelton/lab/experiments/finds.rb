# frozen_string_literal: true

require "tmpdir"
require "pelton/lab/database"

# What a model costs without a web server around it: one find after the other, a thousand at once, and all rows of a
# large table.
Pelton::Lab.experiment "finds" do
  about "models of Sequel and ActiveRecord on Pelton, whose finds are merged, in one process beside the same without " \
    "Pelton: single finds, a thousand at once, a hundred thousand rows"
  only_when_named

  # Yields the address of a filled database for a library, and Sequel's own connection to it.
  fill = lambda do |database, run, library, rows, &block|
    Dir.mktmpdir("pelton-lab") do |folder|
      database.open(run, folder) do |opened|
        unless opened.table_exists?(:users) && opened[:users].count == rows
          opened.create_table!(:users) { primary_key(:id).then { String :username }.then { Integer :visits } }
          (1..rows).each_slice(1_000) do |ids|
            opened[:users].import(%i[id username visits], ids.map { |id| [id, "user #{id}", id] })
          end
        end
      end
      block.call(database.address(run, library, folder))
    end
  end

  pelton = lambda do |database, run, rows, pool: 20, &work|
    require "pelton/sequel"
    fill.call(database, run, :sequel, rows) do |address|
      Pelton.run do
        opened = Pelton::Sequel.connect(address, pool:, timeout: 30)
        work.call(Class.new(Sequel::Model(opened[:users])) { plugin :pelton_merging })
        Pelton::Sequel.disconnect(opened)
      end
    end
  end

  sequel = lambda do |database, run, rows, threads: 1, &work|
    require "sequel"
    fill.call(database, run, :sequel, rows) do |address|
      opened = Sequel.connect(address.sub(/\Asqlite:/, "extralite:"), max_connections: threads, pool_timeout: 30,
        keep_reference: false)
      if opened.database_type == :sqlite
        %w[journal_mode=WAL synchronous=NORMAL].each { |pragma| opened.run("PRAGMA #{pragma}") }
      end
      work.call(Class.new(Sequel::Model(opened[:users])))
      opened.disconnect
    end
  end

  # Yields a model of ActiveRecord.
  connect = lambda do |database, run, rows, pool, &work|
    fill.call(database, run, :rails, rows) do |address|
      ActiveRecord::Base.establish_connection(
        "#{address}?pool=#{pool}&checkout_timeout=30#{"&timeout=30000" if address.start_with?("sqlite3:")}"
      )
      work.call(Object.const_set(:User, Class.new(ActiveRecord::Base)))
      ActiveRecord::Base.connection_pool.disconnect!
    end
  end

  merged = lambda do |database, run, rows, pool: 20, &work|
    require "pelton/active_record"
    Pelton.run do
      connect.call(database, run, rows, pool) { |model| work.call(model.include(Pelton::ActiveRecord::Merging)) }
    end
  end

  active_record = lambda do |database, run, rows, threads:, &work|
    require "active_record"
    connect.call(database, run, rows, threads, &work)
  end

  # Finds of a thousand rows at once by 100 threads, measured once their connections are open.
  by_threads = lambda do |run, &find|
    work, done = Queue.new, Queue.new
    100.times { Thread.new { loop { work.pop.then { |id| done << [find.call(id), id] } } } }
    times = lambda do
      run.size.times { |i| work << 1 + i }
      run.size.times { done.pop.then { |user, id| run.expect("user #{id}", user.username) } }
    end
    times.call
    run.measure(&times)
  end

  # The same by a fiber each. The block returns the number of queries until now.
  by_fibers = lambda do |run, find, &queries|
    times = -> do
      Array.new(run.size) { |i| Pelton.spawn { run.expect("user #{1 + i}", find.call(1 + i).username) } }
        .each(&:await)
    end
    times.call
    before = queries.call
    run.measure(&times)
    run.record(:queries, queries.call - before)
  end

  Pelton::Lab::Database::ALL.each do |name, database|
    check = ->(run, user, id) { run.expect("user #{id}", user.username) }

    race "one after the other, #{name}", size: {free: 2_000}, unit: "finds" do
      about "a row by its primary key, again and again, by one fiber and by one thread"
      server { |processes, core, _| database.start(processes, core) }
      also :cpu_us_per_operation, "CPU us/op"

      work = ->(run, model, find) do
        run.measure do
          run.size.times { |i| (1 + i * 7 % 1_000).then { |id| check.call(run, model.public_send(find, id), id) } }
        end
      end
      baseline("Sequel::Model", style: "blocking") do |run|
        sequel.call(database, run, 1_000) { |model| work.call(run, model, :with_pk!) }
      end
      contender("Pelton", style: "direct") do |run|
        pelton.call(database, run, 1_000) { |model| work.call(run, model, :with_pk!) }
      end

      target nil, "a find by primary key, #{name}: on Pelton, one fiber / Sequel::Model alone, blocking", of: "Pelton",
        at_most: 1.0
    end

    race "a thousand at once, #{name}", size: {free: 1_000}, unit: "finds", rehearsal: 200 do
      about "by a fiber each, which share queries, and by 100 threads"
      server { |processes, core, _| database.start(processes, core) }
      also :cpu_us_per_operation, "CPU us/op"
      also :queries, "queries", digits: 0

      baseline("Sequel::Model, 100 threads", style: "blocking") do |run|
        sequel.call(database, run, 1_000, threads: 100) { |model| by_threads.call(run) { |id| model.with_pk!(id) } }
      end

      contender("Sequel::Model, a fiber each", style: "direct") do |run|
        pelton.call(database, run, 1_000) do |model|
          by_fibers.call(run, ->(id) { model.with_pk!(id) }) { model.db.stats[:queries] }
        end
      end

      contender("ActiveRecord, 100 threads", style: "blocking", gem: "activerecord", with: %w[sqlite3]) do |run|
        active_record.call(database, run, 1_000, threads: 100) do |model|
          by_threads.call(run) { |id| ActiveRecord::Base.connection_pool.with_connection { model.find(id) } }
        end
      end

      contender("ActiveRecord, a fiber each", style: "direct", gem: "pelton-rails",
        with: %w[activerecord sqlite3]) do |run|
        count = 0
        merged.call(database, run, 1_000) do |model|
          ActiveSupport::Notifications.subscribe("sql.active_record") { count += 1 }
          by_fibers.call(run, ->(id) { model.find(id) }) { count }
        end
      end

      target nil, "1,000 finds at once, #{name}: time / Sequel with 100 threads (3 times its finds)",
        of: "Sequel::Model, a fiber each", at_most: 1 / 3.0
      target nil, "the same: queries", of: "Sequel::Model, a fiber each", at_most: 2, metric: :queries,
        unit: "queries", digits: 0
      target nil, "the same with ActiveRecord: time / 100 threads (2 times its finds)",
        of: "ActiveRecord, a fiber each", to: "ActiveRecord, 100 threads", at_most: 1 / 2.0
      target nil, "the same: queries", of: "ActiveRecord, a fiber each", at_most: 2, metric: :queries, unit: "queries",
        digits: 0
    end

    race "all rows, #{name}", size: {free: 100_000}, unit: "rows", rounds: 3, rehearsal: 5_000 do
      about "one row after the other by paged_each"
      server { |processes, core, _| database.start(processes, core) }
      metric :grown_mb, "grown by, MB", digits: 1

      contender "Pelton", style: "direct" do |run|
        pelton.call(database, run, run.size) do |model|
          model.order(:id).limit(2_000).paged_each(&:username) # code and caches
          before = run.rss_kb
          rows = 0
          run.record(:grown_mb, 0)
          run.measure do
            model.order(:id).paged_each do |user|
              check.call(run, user, rows += 1)
              run.record(:grown_mb, [run[:grown_mb], (run.rss_kb - before) / 1024.0].max) if (rows % 1_000).zero?
            end
          end
          run.expect(run.size, rows, "the number of rows")
        end
      end

      target nil, "100,000 rows by paged_each, #{name}: growth of memory", of: "Pelton", at_most: 20, unit: "MB",
        digits: 1
    end
  end
end
