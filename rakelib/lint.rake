# frozen_string_literal: true

standard = lambda do |task|
  require "standard/rake" # only now: it is slow to load
  Rake::Task[task].invoke
end

c_files = FileList["{ext/pelton,test}/**/*.{c,h}"]

desc "Check the style of Ruby (standard) and C (clang-format)"
task lint: %w[lint:ruby lint:c]

namespace :lint do
  task(:ruby) { standard.call("standard") }
  task(:c) { sh "clang-format", "--dry-run", "-Werror", "--ferror-limit=5", *c_files, verbose: false }
end

desc "Correct the style of Ruby and C where a tool can"
task :format do
  sh "clang-format", "-i", *c_files, verbose: false
  standard.call("standard:fix")
end
