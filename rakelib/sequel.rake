# frozen_string_literal: true

namespace :sequel do
  desc "Write to PostgreSQL, MariaDB and SQLite under faults, and check that nothing is lost; AUDIT_SEED=n makes the " \
    "same faults again"
  task :audit, [:seconds, :databases] => :compile do |_, arguments|
    # Guard ends the servers, however this task ends.
    program = <<~'RUBY'
      require "pg"
      require "trilogy"
      require "./test/support/guard"
      Guard.start
      require "./pelton-sequel/test/audit/audit"
      seconds, *kinds = ARGV
      seed = Integer(ENV.fetch("AUDIT_SEED") { rand(100_000) })
      kinds = DatabaseAudit::Audit::KINDS.map(&:to_s) if kinds.empty?
      puts "#{seconds} seconds each, seed #{seed}"
      bad = kinds.reject do |kind|
        audit = DatabaseAudit::Audit.new(kind.to_sym, seconds: Float(seconds), seed: seed).run
        puts "", kind,
          *{"ends" => audit.ends, "faults" => audit.faults}
            .map { |name, counts| "  #{name}: #{counts.map { |key, count| "#{key} #{count}" }.join(", ")}" },
          "  the longest operation of the last process took #{audit.longest} s, with a deadline of #{audit.deadline} s"
        puts "  the disk was never full: only root can make a small one" unless audit.disk
        puts audit.problems.map { |text| "  WRONG: #{text}" }
        audit.problems.empty?
      end
      abort "AUDIT_SEED=#{seed} makes the same faults of #{bad.join(", ")}" if bad.any?
    RUBY
    libraries = %w[-Ilib -Ipelton-sequel/lib]
    sh(RbConfig.ruby, *libraries, "-e", program, "--", arguments[:seconds] || "600", *arguments[:databases]&.split,
      verbose: false)
  end

  # Sequel's specs are not in its gem: they come from its repository, at the version of the bundle.
  directory "tmp/sequel" do |folder|
    specification = Gem.loaded_specs.fetch("sequel")
    command = ["git", "clone", "--quiet", "--depth", "1", "--branch", specification.version.to_s,
      specification.metadata.fetch("source_code_uri"), folder.name]
    next if system({"GIT_TERMINAL_PROMPT" => "0"}, *command)
    rm_rf folder.name, verbose: false
    puts "skipped: Sequel's repository cannot be reached. SEQUEL_SPECS=FOLDER names a copy"
    exit
  end

  desc "Compare Sequel's integration specs on Pelton's drivers, in a reactor and outside, with those on Sequel's " \
    "own; SEQUEL_SPECS=FOLDER has a copy of Sequel"
  task :specs, [:databases] => [:compile, *("tmp/sequel" unless ENV["SEQUEL_SPECS"])] do |_, arguments|
    specs = File.expand_path(ENV["SEQUEL_SPECS"] || "tmp/sequel")
    Bundler.with_unbundled_env do
      environment = {"BUNDLE_GEMFILE" => File.expand_path("gemfiles/sequel.rb"), "BUNDLE_SILENCE_ROOT_WARNING" => "1"}
      sh environment, "bundle check >/dev/null 2>&1 || bundle install --quiet", verbose: false
      sh environment, "bundle", "exec", "ruby", "-Ilib", "-Ipelton-sequel/lib",
        "pelton-sequel/test/support/sequel_comparison.rb", specs, *arguments[:databases]&.split, verbose: false
    end
  end
end
