# frozen_string_literal: true

# Debian's roots have other Rubies, and another compiler, libc and OpenSSL.
namespace :rubies do
  root = lambda do |name|
    require_relative "rubies/root"
    $stdout.sync = true
    RubyRoot.new(name) { |line| puts "#{name}: #{line}" }
  end

  # The guides' examples are among the unit tests: test/documents_test.rb.
  desc "Run the unit tests on another Ruby, in a root of Debian: 3.3, or newest (needs root, debootstrap and a network)"
  task :test, [:name] do |_, arguments|
    tests = FileList["{.,pelton-*}/test/**/*_test.rb"].exclude(%r{/(integration|downstream)/})
    root.call(arguments.name).tap(&:prepare).exec("bundle", "exec", "ruby", "-w", "-Itest", "test/support/shards.rb", *tests, "--")
  rescue RubyRoot::Missing => problem
    puts "ruby_#{arguments.name.tr(".", "_")}: 0 passed, 0 failed, 1 skipped (#{problem.message})"
  end

  desc "Run a command in the root of another Ruby: rake 'rubies:run[3.3]' COMMAND='bundle exec ruby -Itest test/timer_test.rb'"
  task :run, [:name] do |_, arguments|
    root.call(arguments.name).tap(&:prepare).exec("sh", "-c", ENV.fetch("COMMAND"))
  rescue RubyRoot::Missing => problem
    abort "#{arguments.name}: #{problem.message}"
  end
end
