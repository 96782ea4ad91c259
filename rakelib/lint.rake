# frozen_string_literal: true

c_files = FileList["{ext/pelton,test}/**/*.{c,h}"]

desc "Check the style of Ruby (standard) and C (clang-format)"
task lint: %w[lint:ruby lint:c]

namespace :lint do
  task(:ruby) { sh "bundle", "exec", "standardrb", "--format", "simple", verbose: false }
  task(:c) { sh "clang-format", "--dry-run", "-Werror", *c_files, verbose: false }
end

desc "Correct the style of Ruby and C where a tool can"
task :format do
  sh "clang-format", "-i", *c_files, verbose: false
  sh "bundle", "exec", "standardrb", "--fix", verbose: false
end
