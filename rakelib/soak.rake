# frozen_string_literal: true

desc "Use memcached for SOAK_SECONDS seconds (default 600) under all kinds of faults; SOAK_SEED=n makes the same " \
  "faults again"
task soak: :compile do
  # Guard ends the servers, however this task ends.
  program = <<~'RUBY'
    require "./test/support/guard"
    Guard.start
    require "./test/soak/memcached"
    seconds = Integer(ENV.fetch("SOAK_SECONDS", "600"))
    seed = Integer(ENV.fetch("SOAK_SEED") { Random.new_seed % 100_000 })
    puts "#{seconds} seconds, seed #{seed}"
    soak = Soak::Memcached.new(seconds, seed)
    soak.run or abort "a wrong answer (above); SOAK_SEED=#{seed}"
    puts soak.answers.map { |name, count| "#{name}: #{count}" }, "troubles: #{soak.troubles.inspect}"
    puts format("memory: %d KB at first, %d KB at last; %.2f of what it was", soak.memory.first,
      soak.memory.last, soak.growth)
    abort "the memory grows" if seconds >= 300 && soak.growth > 1.15
  RUBY
  # The arenas of threads would hide a leak of the load.
  sh({"MALLOC_ARENA_MAX" => "2"}, RbConfig.ruby, "-Ilib", "-e", program, verbose: false)
end

desc "Broadcast MESSAGES (default 100,000) to clients of a cable, while Redis and PostgreSQL are away for 10 of each " \
  "60 seconds and workers are killed"
task "soak:cable" => :compile do
  program = <<~'RUBY'
    require "pg"
    module Minitest # what the databases leave behind goes with this program
      def self.after_run(&block) = at_exit(&block)
    end
    require "./test/support/guard"
    Guard.start
    require "./test/support/database_process"
    require "./test/soak/cable"
    messages = Integer(ENV.fetch("MESSAGES", "100000"))
    servers = {
      "redis" => ["redis://127.0.0.1:%d", "KILL", Databases.method(:redis_command)],
      "postgresql" => ["postgres://postgres@127.0.0.1:%d/postgres", "QUIT", Databases.method(:postgres_command)]
    }
    ENV.fetch("SERVERS", servers.keys.join(",")).split(",").each do |name|
      url, signal, command = servers.fetch(name)
      database = DatabaseProcess.new(signal, &command)
      crash = -> { database.die!.then { sleep(10) && database.start } }
      soak = Soak::Cable.new(format(url, database.port),
        messages: messages, outage: 10, every: 50, pause: 0.05, crash: crash)
      right = soak.run
      puts "#{name}: #{soak.tally}"
      right or abort soak.faults.join("\n")
    ensure
      database&.die!
    end
  RUBY
  sh(RbConfig.ruby, "-Ilib", "-e", program, verbose: false)
end

desc "Run jobs for MINUTES (default 10) that receive texts, and pages that follow them, while workers are killed, " \
  "PostgreSQL is restarted and their upstream fails; needs Ruby 3.2"
task "soak:jobs" => :compile do
  abort "soak:jobs needs Ruby 3.2, and the gems that bin/setup downstream installs for it" if RUBY_VERSION < "3.2"
  program = <<~'RUBY'
    module Minitest # what the database leaves behind goes with this program
      def self.after_run(&block) = at_exit(&block)
    end
    require "./test/support/guard"
    Guard.start
    require "./test/support/database_process"
    require "./test/soak/jobs"
    database = DatabaseProcess.new("QUIT", &Databases.method(:postgres_command))
    restart = -> { database.die!.then { sleep(2) && database.start } }
    soak = Soak::Jobs.new("postgres://postgres@127.0.0.1:#{database.port}/postgres",
      seconds: 60 * Float(ENV.fetch("MINUTES", "10")), every: 30, restart: restart)
    right = soak.run
    puts soak.tally
    right or abort soak.faults.join("\n")
  RUBY
  gems = {"BUNDLE_GEMFILE" => File.expand_path("gemfiles/rails_8_1.rb"), "BUNDLE_PATH" => File.expand_path("tmp/rails")}
  sh(gems, RbConfig.ruby, "-rbundler/setup", "-Ilib", "-e", program, verbose: false)
end
