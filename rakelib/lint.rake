# frozen_string_literal: true

require "yaml"

c_files = FileList["{ext/pelton,test}/**/*.{c,h}"]
signatures = FileList["{.,pelton-*}/sig"].flat_map { |folder| ["-I", folder] }

desc "Check the style of Ruby (standard) and C (clang-format), and the signatures (rbs)"
task lint: %w[lint:ruby lint:c lint:signatures]

namespace :lint do
  # In parts, each of which is a line of progress: all together take minutes without a cache.
  task :ruby do
    require "standard" # only now: it is slow to load
    $stdout.sync = true
    files = FileList["**/*.{rb,rake,gemspec,ru}", "**/{Rakefile,Gemfile}", "exe/*"].exclude(%r{\A(tmp|vendor|pkg)/})
    statuses = files.each_slice(500).with_index.map do |part, index|
      puts "... Ruby, #{index * 500} of #{files.size} files"
      Standard::Cli.new(["--force-exclusion", *part]).run
    end
    fail unless statuses.all?(0)
  end
  # By the rbs that comes with Ruby, not with the bundle, and with the libraries that the gems' manifests name.
  task(:signatures) do
    puts "... signatures"
    program = "Gem::Specification.find_all_by_name('rbs').any? or exit; load Gem.bin_path('rbs', 'rbs')"
    libraries =
      FileList["{.,pelton-*}/sig/manifest.yaml"].flat_map { |file| YAML.load_file(file).fetch("dependencies") }
    options = libraries.flat_map { |library| ["-r", library.fetch("name")] } + signatures
    Bundler.with_unbundled_env do
      sh RbConfig.ruby, "-e", program, "--", *options, "validate", "--silent", verbose: false
    end
  end
  task(:c) do
    puts("... C, #{c_files.size} files") ||
      sh("clang-format", "--dry-run", "-Werror", "--ferror-limit=5", *c_files, verbose: false)
  end
end

desc "Correct the style of Ruby and C where a tool can"
task :format do
  sh "clang-format", "-i", *c_files, verbose: false
  require "standard/rake" # only now: it is slow to load
  Rake::Task["standard:fix"].invoke
end
