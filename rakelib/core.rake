# frozen_string_literal: true

require "etc"

make = %W[make --no-print-directory --silent -j#{[Etc.nprocessors, 4].min} -C test/core]

# A makefile's own variables win over the environment's, where rake puts those of its command line.
chosen = ->(name) { ENV.key?(name) ? ["#{name}=#{ENV[name]}"] : [] }

namespace :core do
  desc "Run core's C tests, built by the system's compiler (NAMES=base/buffer: that one alone)"
  task(:test) { sh(*make, "check", *chosen["NAMES"], verbose: false) }

  desc "The same, built by clang with ASAN and UBSAN"
  task(:asan) { sh(*make, "check", "BUILD=asan", *chosen["NAMES"], verbose: false) }
end

desc "Run each fuzz target for SECONDS seconds (default 60; TARGETS=http1/caching: that one alone)"
task :fuzz do
  sh(*make, "fuzz", "SECONDS=#{ENV.fetch("SECONDS", "60")}", *chosen["TARGETS"], verbose: false)
end
