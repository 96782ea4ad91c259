# frozen_string_literal: true

# An installed Ruby, for a version that Debian does not have (rubies/installed.rb). Debian's roots have other Rubies,
# and another compiler, libc and OpenSSL.
namespace :rubies do
  find = lambda do |name, otherwise|
    $stdout.sync = true
    (RubyRoot::SUITES.key?(name) ? RubyRoot : otherwise).new(name) { |line| puts "#{name}: #{line}" }
  end

  desc "Make or update the root of another Ruby, which the other tasks do by themselves"
  task :prepare, [:name] do |_, arguments|
    require_relative "rubies/root"
    find.call(arguments.name, RubyRoot).prepare
  rescue RubyRoot::Missing => problem
    puts "#{arguments.name}: #{problem.message}"
  end

  # A root that cannot be made, or a Ruby that is not installed, is a skip.
  test = lambda do |name, what, files, *options, rails: []|
    require_relative "rubies/installed"
    find.call(name, InstalledRuby).tap { |ruby| ruby.prepare(rails: rails) }.exec("bundle", "exec", "ruby", "-w",
      "-Itest", "test/support/shards.rb", *options, *files, "--")
  rescue RubyRoot::Missing => problem
    puts "#{what}_#{name.tr(".", "_")}: 0 passed, 0 failed, 1 skipped (#{problem.message})"
  end

  # The guides' examples are among the unit tests: test/repository/documents_test.rb.
  desc "Run the unit tests on another Ruby, in a root of Debian: 3.3, or newest (needs root, debootstrap and a " \
    "network); or on an installed one, such as 4.0"
  task :test, [:name] do |_, arguments|
    test.call(arguments.name, "ruby",
      FileList["{.,pelton-*}/test/**/*_test.rb"].exclude(%r{/(integration|downstream)/}))
  end

  desc "Run pelton-rails' tests with Rails 8, which Debian 12's Ruby is too old for, on another Ruby; those that " \
    "need a database's server or a browser are skipped"
  task :rails, [:name] do |_, arguments|
    # which have gems of their own
    tests = FileList["pelton-rails/test/downstream/**/*_test.rb"].exclude(/(datadog|opentelemetry|sentry)_test/)
    test.call(arguments.name, "rails", tests, "--at-once", "2", rails: %w[8.0 8.1])
  end

  desc "Run a command in the root of another Ruby: rake 'rubies:run[3.3]' COMMAND='bundle exec ruby -Itest " \
    "test/waiting/timer_test.rb'"
  task :run, [:name] do |_, arguments|
    require_relative "rubies/root"
    find.call(arguments.name, RubyRoot).tap(&:prepare).exec("sh", "-c", ENV.fetch("COMMAND"))
  rescue RubyRoot::Missing => problem
    abort "#{arguments.name}: #{problem.message}"
  end
end
