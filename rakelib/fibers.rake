# frozen_string_literal: true

namespace :fuzz do
  desc "Run random programs of fibers for SECONDS seconds (default 60); PELTON_SEED=n runs one of them again and again"
  task fibers: :compile do
    seconds = ENV.fetch("SECONDS", "60")
    limit = 2 * Integer(seconds) + 120 # beyond the tests' own deadline, whose report names the program
    sh({"PELTON_FUZZ_SECONDS" => seconds, "limit" => limit.to_s}, "bin/test", "test/reactor/state_table_test.rb", "--",
      "--name", "/random_programs$/", verbose: false)
  end
end
