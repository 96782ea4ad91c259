# frozen_string_literal: true

standard = lambda do |task|
  require "standard/rake" # only now: it is slow to load
  Rake::Task[task].invoke
end

c_files = FileList["{ext/pelton,test}/**/*.{c,h}"]
signatures = FileList["{.,pelton-*}/sig"].flat_map { |folder| ["-I", folder] }

desc "Check the style of Ruby (standard) and C (clang-format), and the signatures (rbs)"
task lint: %w[lint:ruby lint:c lint:signatures]

namespace :lint do
  task(:ruby) { standard.call("standard") }
  # By the rbs that comes with Ruby, not with the bundle.
  task(:signatures) do
    program = "Gem::Specification.find_all_by_name('rbs').any? or exit; load Gem.bin_path('rbs', 'rbs')"
    Bundler.with_unbundled_env { sh RbConfig.ruby, "-e", program, "--", *%w[socket uri date tempfile bigdecimal].flat_map { |library| ["-r", library] }, *signatures, "validate", "--silent", verbose: false }
  end
  task(:c) { sh "clang-format", "--dry-run", "-Werror", "--ferror-limit=5", *c_files, verbose: false }
end

desc "Correct the style of Ruby and C where a tool can"
task :format do
  sh "clang-format", "-i", *c_files, verbose: false
  standard.call("standard:fix")
end
