# frozen_string_literal: true

# The tests that cross between C and Ruby most: TESTS="test/stream_test.rb ..." chooses others.
memory_tests = lambda do |folders: "test/{.,deferrable,extension,group,reactor,scheduler,stream,task,watchdog}"|
  ENV["TESTS"] ? FileList[*ENV["TESTS"].split] : FileList["#{folders}/*_test.rb"].exclude(/architecture|command|helper/)
end

ruby_tests = lambda do |*command, **options|
  [*command, "-Itest", "-e", "ARGV.each { |file| require File.expand_path(file) }.clear", *memory_tests.call(**options)]
end

desc "Run tests with a minor collection at every allocation; FULL=1: a whole one with compaction (a hundred times as " \
  "slow)"
task stress: :compile do
  # it would report a stall all the time
  environment = {"PELTON_GC_STRESS" => ENV["FULL"] ? "full" : "1", "PELTON_WATCHDOG" => "off"}
  sh(environment, *ruby_tests.call("ruby"), verbose: false)
end

desc "Run tests under valgrind, reporting only the errors of Pelton"
task memcheck: :compile do
  tests = ENV["TESTS"] # rake's variable, which is not in the environment without Bundler
  Bundler.with_unbundled_env do
    ENV["TESTS"] = tests
    # Valgrind takes a stack pointer that moves less than 2 MB for a call or a return, and the memory it passed for
    # gone: so the fibers' stacks have to lie farther apart.
    ENV.update("RUBY_FIBER_MACHINE_STACK_SIZE" => "8388608", "PELTON_VALGRIND" => "1")
    ENV.update("BUNDLE_WITH" => "memcheck", "BUNDLE_SILENCE_ROOT_WARNING" => "1")
    sh "bundle check >/dev/null 2>&1 || bundle install --quiet", verbose: false # compiles nokogiri: a minute or two
    sh "bundle", "exec", "rake", "memcheck:run", verbose: false
  end
end

task "memcheck:run" do
  require "ruby_memcheck"
  # The errors that a killed child has reported count: its truncated report is completed.
  RubyMemcheck::TestTaskReporter.prepend(Module.new {
    def parse_valgrind_output
      valgrind_xml_files.each do |file|
        File.write(file, "</valgrindoutput>", mode: "a") unless File.read(file).include?("</valgrindoutput>")
      end
      super
    end
  })
  # The reports of other projects' servers do not count, and the guard, a fork, may still be ending when the reports are
  # read.
  options = ["--trace-children-skip=*/memcached,*/openssl", "--child-silent-after-fork=yes"]
  options = RubyMemcheck::Configuration::DEFAULT_VALGRIND_OPTIONS + options
  RubyMemcheck.config(binary_name: "pelton", valgrind_options: options, valgrind_suppressions_dir: "test/valgrind")
  RubyMemcheck::TestTask.new("memcheck:tests") { |t|
    t.libs << "test"
    t.test_files = memory_tests.call
  }
  Rake::Task["memcheck:tests"].invoke
end

# ASAN looks at the heap alone: it does not follow the fibers' stacks, on which exceptions jump. The extension and the
# files around it are a copy, since tests and programs load the files beside them.
sanitized = "tmp/sanitize"
sanitizers = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer --param=asan-stack=0"

file "#{sanitized}/build/Makefile" => %w[tmp/sources ext/pelton/extconf.rb] do |makefile|
  mkdir_p makefile.name.pathmap("%d"), verbose: false
  Dir.chdir(makefile.name.pathmap("%d")) { sh RbConfig.ruby, "../../../ext/pelton/extconf.rb", verbose: false }
end

# A copy of this checkout with that extension, in which Ruby runs with these variables.
sanitized_environment = {
  "LD_PRELOAD" => `gcc -print-file-name=libasan.so`.chomp,
  # Ruby's own handlers and their stack; Ruby does not free everything at its end.
  "ASAN_OPTIONS" => "handle_segv=0:use_sigaltstack=0:detect_leaks=0:detect_stack_use_after_return=0",
  "UBSAN_OPTIONS" => "print_stacktrace=1"
}

task "sanitize:copy" => "#{sanitized}/build/Makefile" do
  sh "make", "--silent", "-j2", "-C", "#{sanitized}/build", "ARCH_FLAG=#{sanitizers}", verbose: false
  rm_rf "#{sanitized}/copy", verbose: false
  mkdir_p "#{sanitized}/copy", verbose: false
  cp_r FileList["*"].exclude("tmp", "pkg"), "#{sanitized}/copy", verbose: false
  cp "#{sanitized}/build/pelton.so", "#{sanitized}/copy/lib/pelton/", verbose: false
end

desc "Run tests on an extension that gcc has built with ASAN and UBSAN"
task sanitize: "sanitize:copy" do
  command =
    ruby_tests.call("ruby",
      folders: "{test/{.,deferrable,extension,group,reactor,scheduler,stream,task,watchdog,tls,http,http/*,memcached}," \
        "pelton-eventmachine/test/{.,protocols}}")
  # ASAN says on stderr that it knows no fibers, which is in the output of the guides' examples.
  # While Ruby 3.1 moves objects by itself it takes what lies on a stack for one, which ASAN's addresses do not forgive.
  command.reject! { |argument| argument.match?(%r{/reactor/(signal|state_table)_test}) }
  Dir.chdir("#{sanitized}/copy") { sh(sanitized_environment, *command, verbose: false) }
end

namespace :fuzz do
  desc "Run random clients that leave under ASAN for SECONDS seconds (default 60); PELTON_SEED=n runs one of them " \
    "again and again"
  task clients: "sanitize:copy" do
    environment = sanitized_environment.merge("PELTON_FUZZ_SECONDS" => ENV.fetch("SECONDS", "60"))
    command = %w[ruby -Itest test/http/server/random_clients_test.rb]
    Dir.chdir("#{sanitized}/copy") { sh(environment, *command, verbose: false) }
  end
end
