# frozen_string_literal: true

desc "Compare sig/ with the calls of the unit tests (or of TESTS=FILES), and with the programs of the READMEs"
task :types do
  parts = ENV["TESTS"] ? %w[types:calls] : %w[types:calls types:readme]
  failures = parts.filter_map do |part|
    Rake::Task[part].invoke
    nil
  rescue => error
    error.message
  end
  fail failures.join("; ") if failures.any?
end

namespace :types do
  # Run the unit tests (or TESTS=FILES), and compare each of their calls with the signatures in sig/.
  task calls: :compile do
    require_relative "types/report"
    # The rbs that comes with Ruby, not with the bundle.
    program = <<~RUBY
      spec = Gem::Specification.find_all_by_name("rbs").max_by(&:version)
      puts spec.full_require_paths if spec
    RUBY
    paths = Bundler.with_unbundled_env { IO.popen([RbConfig.ruby, "-e", program], &:readlines) }.map(&:chomp)
    missing = "types are not compared: the gem rbs is missing (it comes with Ruby; as a package: ruby-rbs)"
    next puts(missing, "types: 0 passed, 0 failed, 1 skipped") if paths.empty?

    folder = File.expand_path("../tmp/types", __dir__)
    rm_rf folder, verbose: false
    mkdir_p folder, verbose: false
    # Without those that only start programs, or look at files; and without two whose results depend on how long the
    # loop is busy, or that collect garbage at every object.
    unit = FileList["{.,pelton-*}/test/**/*_test.rb"]
      .exclude(%r{/(integration|downstream|repository|support|extension)/})
      .exclude(%r{\Apelton-lab/|/(program|test_helper)_test\.rb\z})
      .exclude("./test/watching/watchdog_test.rb", "./test/http/server/cached_flight_test.rb")
    tests = ENV["TESTS"] ? FileList[*ENV["TESTS"].split] : unit
    # The Rakefile's variable would change what pelton serve prints.
    passed = system({"TYPES_RBS" => paths.join(File::PATH_SEPARATOR), "TYPES_FOLDER" => folder, "PELTON_WERROR" => nil},
      RbConfig.ruby, "-w", "-Itest", "test/support/shards.rb", *tests, "--")
    report = TypesReport.new(folder, TypesReport.exceptions, whole: tests == unit)
    puts report.lines
    fail "the tests fail with wrapped methods" unless passed
    fail "sig/ says otherwise" unless report.true?
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
