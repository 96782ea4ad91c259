# frozen_string_literal: true

# What tests must kill, of all mutants and of the sample, which is so small that chance takes some.
mutations = lambda do |minimum, **options|
  require_relative "mutations/run" # only now: it loads a parser
  $stdout.sync = true
  only = Regexp.new(ENV["ONLY"].to_s)
  seed, jobs = %w[SEED JOBS].map { |name| Integer(ENV.fetch(name, "1")) }
  options.update(only: only, seed: seed, jobs: jobs, again: ENV.key?("AGAIN"))
  puts report = Mutations::Run.new(File.expand_path("..", __dir__), **options).report
  abort "fewer than #{(minimum * 100).round} % were killed" if report.share < minimum
end

desc "Try 600 mutants, which tests must kill (COUNT=, SEED=, ONLY=path, JOBS=, AGAIN=1: survivors once more)"
task(mutations: :compile) { mutations.call(0.9, count: ENV["COUNT"]&.to_i) }

namespace :mutations do
  desc "The same with a sample of 60"
  task(sample: :compile) { mutations.call(0.8, count: 60) }
end
