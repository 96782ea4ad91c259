# frozen_string_literal: true

# The tests that cross between C and Ruby most: TESTS="test/stream_test.rb ..." chooses others.
memory_tests = -> { ENV["TESTS"] ? FileList[*ENV["TESTS"].split] : FileList["test/*_test.rb"].exclude(/architecture|command|helper/) }

ruby_tests = lambda do |*command|
  [*command, "-Ilib", "-Itest", "-e", "ARGV.each { |file| require File.expand_path(file) }.clear", *memory_tests.call]
end

desc "Run tests with a collection and compaction at every allocation (slow)"
task stress: :compile do
  sh({"PELTON_GC_STRESS" => "1", "PELTON_SLOW" => "1"}, *ruby_tests.call("ruby"), verbose: false)
end

desc "Run tests under valgrind, reporting only what comes from Pelton"
task memcheck: :compile do
  Bundler.with_unbundled_env do
    ENV.update("BUNDLE_WITH" => "memcheck", "BUNDLE_SILENCE_ROOT_WARNING" => "1", "PELTON_SLOW" => "1")
    sh "bundle check >/dev/null 2>&1 || bundle install --quiet", verbose: false # compiles nokogiri: a minute or two
    sh "bundle", "exec", "rake", "memcheck:run", verbose: false
  end
end

task "memcheck:run" do
  require "ruby_memcheck"
  RubyMemcheck.config(binary_name: "pelton")
  RubyMemcheck::TestTask.new("memcheck:tests") { |t|
    t.libs << "lib" << "test"
    t.test_files = memory_tests.call
  }
  Rake::Task["memcheck:tests"].invoke
end
