# frozen_string_literal: true

require "etc"

make = %W[make --no-print-directory --silent -j#{[Etc.nprocessors, 4].min} -C test/core]

namespace :core do
  desc "Run core's C tests, built by the system's compiler (NAMES=buffer: that one alone)"
  task(:test) { sh(*make, "check", verbose: false) }

  desc "The same, built by clang with ASAN and UBSAN"
  task(:asan) { sh(*make, "check", "BUILD=asan", verbose: false) }
end

desc "Run each fuzz target for SECONDS seconds (default 60; TARGETS=memcached_parser: that one alone)"
task :fuzz do
  sh(*make, "fuzz", "SECONDS=#{ENV.fetch("SECONDS", "60")}", verbose: false)
end
