# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/temporary_folder"
require "open3"
require "rbconfig"
require "yaml"

# The commands in bin/ of a checkout. Their installation of packages and gems can be tested on bare machines only.
class CheckoutTest < PeltonTest
  include TemporaryFolder

  # A copy of this checkout, not compiled, and a folder of programs beside it.
  def setup
    super
    @copy, @programs = %w[copy programs].map { |name| File.join(@folder, name).tap { |path| FileUtils.mkdir(path) } }
    %w[bin exe lib pelton-lab].each { |name| FileUtils.cp_r(File.join(ROOT, name), @copy) }
    FileUtils.rm(Dir["#{@copy}/lib/pelton/pelton.so"])
    %w[bash env sed dirname sort nproc].each { |name| File.symlink(path(name), File.join(@programs, name)) }
  end

  # Runs a command of the copy where nothing but the programs and Ruby can be found. Returns what it printed, its status, and the
  # files that it made.
  def run_bare(*command, ruby: true)
    File.symlink(RbConfig.ruby, File.join(@programs, "ruby")) if ruby && !File.exist?(File.join(@programs, "ruby"))
    before = Dir["#{@copy}/**/*"]
    output, status = Open3.capture2e(child_environment.merge("PATH" => @programs), *command, chdir: @copy)
    [output, status.exitstatus, Dir["#{@copy}/**/*"] - before]
  end

  def path(program) = ENV["PATH"].split(File::PATH_SEPARATOR).map { |folder| File.join(folder, program) }.find { |file| File.executable?(file) }

  def test_the_labs_help_needs_nothing
    output, status, made = run_bare("bin/lab", "--help")

    assert_equal [0, []], [status, made], output
    assert_match(/^usage: bin\/lab .*^usage: pelton lab .*^  crossover /m, output)
  end

  def test_the_labs_list_needs_nothing
    output, status, made = run_bare("bin/lab", "--list")

    assert_equal [0, []], [status, made], output
    assert_match(/^  memcached /, output)
  end

  def test_help_without_ruby
    %w[bin/lab bin/test bin/setup].each do |command|
      output, status, made = run_bare(command, "--help", ruby: false)

      assert_equal [0, []], [status, made], output
      assert_match(/\Ausage: #{command} /, output)
    end
  end

  # What runs elsewhere runs commands that are here.
  def test_the_workflows_run_tasks_that_there_are
    workflows = Dir["#{ROOT}/.github/workflows/*.yml"].map { |path| YAML.safe_load_file(path, aliases: true) }
    commands = workflows.flat_map { |workflow| workflow["jobs"].values }.flat_map { |job| job["steps"] }.filter_map { |step| step["run"] }
    tasks = commands.filter_map { |command| command[/\Abundle exec rake (\S+)/, 1] }
    known = Dir["#{ROOT}/{Rakefile,rakelib/*.rake}"].map { |path| File.read(path) }.join

    assert_empty (tasks - ["compile"]).reject { |task| known.match?(/^ *task :#{task.split(":").last}\b/) }
    assert_equal 5, tasks.size
    assert_includes commands, ".ci/run"
    Dir["#{ROOT}/.github/ISSUE_TEMPLATE/*.yml"].each { |path| assert_kind_of Hash, YAML.safe_load_file(path) }
  end

  # Packages that a purpose must not ask for.
  MUCH = %w[chromium mariadb-server postgresql redis-server prometheus nginx valgrind libpq-dev].freeze

  def packages(*purposes)
    output, status, made = run_bare("bin/setup", "--list", *purposes)

    assert_equal [0, []], [status, made], output
    output.split
  end

  def test_each_purpose_needs_its_own_packages
    unit, core, lint, integration, all = packages("unit"), packages("core"), packages("lint"), packages("integration"), packages

    assert_empty (unit | core | lint) & MUCH
    assert_includes unit, "memcached"
    assert_empty [unit, lint].map { |list| list & %w[clang] }.flatten
    assert_empty core & %w[ruby ruby-dev memcached]
    assert_empty lint & %w[build-essential]
    assert_empty MUCH - integration
    assert_equal (unit | core | lint | integration).sort, all.sort
  end

  def test_the_lab_needs_its_peers_and_no_database
    assert_empty packages("lab") & (MUCH - %w[nginx])
    assert_empty %w[nginx wrk apache2-utils memcached] - packages("lab")
  end

  def test_an_unknown_purpose_is_refused
    output, status, made = run_bare("bin/setup", "everything")

    assert_equal [2, []], [status, made]
    assert_match(/usage: bin\/setup/, output)
  end
end
