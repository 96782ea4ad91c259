# frozen_string_literal: true

namespace :fuzz do
  desc "Run random programs of fibers for SECONDS seconds (default 60)"
  task fibers: :compile do
    ruby "-Ilib", "-e", <<~RUBY
      require "pelton"
      require "./test/support/random_program"
      Pelton.logger = nil
      programs = 0
      finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + #{Float(ENV.fetch("SECONDS", "60"))}
      while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
        seed = Random.rand(2**32)
        complaints = RandomProgram.new(seed).run
        abort "PELTON_SEED=\#{seed}: \#{complaints.join("; ")}" unless complaints.empty?
        programs += 1
      end
      puts "\#{programs} programs, nothing to complain of"
    RUBY
  end
end
