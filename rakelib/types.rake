# frozen_string_literal: true

desc "Compare sig/ with the calls of the unit tests (or of TESTS=FILES) and of programs with Rails, and with the " \
  "programs of the READMEs"
task :types do
  parts = ENV["TESTS"] ? %w[types:calls] : %w[types:calls types:rails types:readme]
  failures = parts.filter_map do |part|
    Rake::Task[part].invoke
    nil
  rescue => error
    error.message
  end
  fail failures.join("; ") if failures.any?
end

namespace :types do
  # The paths of the rbs that comes with Ruby, not with the bundle.
  rbs = lambda do
    program = <<~RUBY
      spec = Gem::Specification.find_all_by_name("rbs").max_by(&:version)
      puts spec.full_require_paths if spec
    RUBY
    Bundler.with_unbundled_env { IO.popen([RbConfig.ruby, "-e", program], &:readlines) }.map(&:chomp)
  end

  # Runs these tests, or TESTS=FILES, and compares their calls with the signatures in sig/. TYPES_PROGRAMS is the
  # RUBYOPT of the programs that they start.
  compare = lambda do |name, tests, exceptions, *options, programs: nil, all: nil|
    paths = rbs.call
    missing = "types are not compared: the gem rbs is missing (it comes with Ruby; as a package: ruby-rbs)"
    next puts(missing, "#{name}: 0 passed, 0 failed, 1 skipped") if paths.empty?

    folder = File.expand_path("../tmp/types/#{name}", __dir__)
    rm_rf folder, verbose: false
    mkdir_p folder, verbose: false
    files = ENV["TESTS"] ? FileList[*ENV["TESTS"].split] : tests
    # The Rakefile's variable would change what pelton serve prints.
    variables = {"TYPES_RBS" => paths.join(File::PATH_SEPARATOR), "TYPES_FOLDER" => folder,
                 "TYPES_PROGRAMS" => programs, "PELTON_WERROR" => nil}
    passed = system(variables, RbConfig.ruby, "-w", "-Itest", "test/support/shards.rb", *files, "--", *options)
    report = TypesReport.new(folder, exceptions, name: name, all: all, whole: files == tests)
    puts report.lines
    fail "the tests fail with wrapped methods" unless passed
    fail "sig/ says otherwise" unless report.true?
  end

  # Without those that only start programs, or look at files; and without two whose results depend on how long the loop
  # is busy, or that collect garbage at every object.
  unit_tests = FileList["{.,pelton-*}/test/**/*_test.rb"]
    .exclude(%r{/(integration|downstream|repository|support|extension)/})
    .exclude(%r{\Apelton-lab/|/(program|test_helper)_test\.rb\z})
    .exclude("./test/watching/watchdog_test.rb", "./test/http/server/cached_flight_test.rb")

  # Compare the calls of the unit tests (or of TESTS=FILES).
  task calls: :compile do
    require_relative "types/report"
    compare.call("types", unit_tests, TypesReport.exceptions)
  end

  # Print the unit tests that types:calls runs, if it can run: bin/test runs them once.
  task :tests do
    puts unit_tests.map { |path| path.sub(%r{\A(\./)?}, "./") } if rbs.call.any?
  end

  # Compare the calls of pelton-rails' unit tests, and of the programs that some of its tests with Rails start (or
  # TESTS=FILES). Together they reach each method that pelton-rails declares.
  task rails: :compile do
    require_relative "types/report"
    require_relative "../test/support/gem_program"
    gems = ["rails#{"_8_1" unless RUBY_VERSION < "3.2"}", "active_record"].map do |name|
      GemProgram::Gems.new("gemfiles/#{name}.rb", folder: "tmp/rails")
    end
    missing = gems.reject(&:installed?).map { |one| "programs with Rails are not compared: #{one.missing}" }
    next puts(missing, "types_rails: 0 passed, 0 failed, 1 skipped") if missing.any?

    tests = FileList["pelton-rails/test/{,active_record/,active_support/**/}*_test.rb"]
    tests.include(*%w[
      active_job/queue_adapters/pelton_adapter active_record/asynchronous_queries active_record/connection_management
      active_record/connections active_record/merging_model job_limits live_streams resumable_streams/tasks solid_queue
    ].map { |name| "pelton-rails/test/downstream/#{name}_test.rb" })
    slow = "/_on_(mariadb|postgresql)$|_(mail|share|stop_of|in_time)_/" # they call the same methods
    compare.call("types_rails", tests, TypesReport.exceptions.fetch("rails"), "--exclude", slow, "--at-once", "3",
      programs: "-r#{File.expand_path("../test/support/signature_checker/programs.rb", __dir__)}",
      all: /\A(Pelton::(Rails|ActiveRecord)|Active\w+)::/)
  end

  # Check the programs of the READMEs against sig/, with Steep.
  task :readme do
    require_relative "types/report"
    require_relative "types/programs"
    require_relative "types/steep"
    missing = "the READMEs' programs are not checked: the gems of gemfiles/types.rb are missing (bin/setup types)"
    next puts(missing, "types_readme: 0 passed, 0 failed, 1 skipped") unless TypesSteep.installed?

    folder = File.expand_path("../tmp/types/readme", __dir__)
    rm_rf folder, verbose: false
    programs = TypesPrograms.new(TypesPrograms.readmes, TypesReport.exceptions)
    programs.write(folder)
    puts programs.judge(TypesSteep.check(folder)).lines
    fail "a README's program contradicts sig/" unless programs.true?
  end
end
