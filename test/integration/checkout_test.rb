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

  # Runs a command of the copy where nothing but the programs and Ruby can be found. Returns what it printed, its
  # status, and the files that it made.
  def run_bare(*command, ruby: true)
    File.symlink(RbConfig.ruby, File.join(@programs, "ruby")) if ruby && !File.exist?(File.join(@programs, "ruby"))
    before = Dir["#{@copy}/**/*"]
    output, status = Open3.capture2e(child_environment.merge("PATH" => @programs), *command, chdir: @copy)
    [output, status.exitstatus, Dir["#{@copy}/**/*"] - before]
  end

  def path(program)
    ENV["PATH"].split(File::PATH_SEPARATOR).map { |folder| File.join(folder, program) }.find do |file|
      File.executable?(file)
    end
  end

  def test_the_labs_help_needs_nothing
    output, status, made = run_bare("bin/lab", "--help")

    assert_equal 0, status, output
    assert_equal [], made, output
    assert_match(/^usage: bin\/lab .*^usage: pelton lab .*^  crossover /m, output)
  end

  def test_the_labs_list_needs_nothing
    output, status, made = run_bare("bin/lab", "--list")

    assert_equal 0, status, output
    assert_equal [], made, output
    assert_match(/^  memcached /, output)
  end

  def test_help_without_ruby
    %w[bin/lab bin/test bin/setup].each do |command|
      output, status, made = run_bare(command, "--help", ruby: false)

      assert_equal 0, status, output
      assert_equal [], made, output
      assert_match(/\Ausage: #{command} /, output)
    end
  end

  # Replaces bin/setup of the copy, and runs bin/test there.
  def run_tests_with_setup(script, limit: 600)
    File.write(File.join(@copy, "bin/setup"), "#!/usr/bin/env bash\n#{script}\n", perm: 0o755)
    Open3.capture2e(child_environment.merge("limit" => limit.to_s), "bin/test", "unit", chdir: @copy).first
  end

  def test_a_step_without_progress_is_ended_with_its_children_and_the_report_says_so
    output = run_tests_with_setup("sleep 1000 & echo $! >tmp/child; wait", limit: 1)
    last = "--- setup failed: tmp/test/setup.log\n  setup: no progress for 1 s: ended\n"

    assert_match(/^#{last}--- \d+ s\n0 passed, 1 failed, 0 skipped\n\z/, output)
    assert ended?(Integer(File.read(File.join(@copy, "tmp/child"))))
  end

  # As Ruby writes it, and test/support/shards.rb after it.
  CRASH = <<~TEXT
    ./test/foo_test.rb:12: [BUG] Segmentation fault at 0x0000000000000010
    -- C level backtrace information -------------------------------------------
    /lib/x86_64-linux-gnu/libruby-3.1.so.3.1(0x7f5631863f28) [0x7f5631863f28]
    /lib/x86_64-linux-gnu/libc.so.6(__restore_rt+0x0) [0x7f563137a050]
    /home/me/pelton/lib/pelton/pelton.so(pel_park+0x2a) [0x7f5630000000] ../../../../ext/pelton/ruby/reactor/park.c:40
    /home/me/pelton/lib/pelton/pelton.so(0x7f5630000aaa) [0x7f5630000aaa]
    /lib/x86_64-linux-gnu/libruby-3.1.so.3.1(rb_vm_exec+0xb3) [0x7f56318526a3]
    #{(1..20).map { |i| "/usr/bin/ruby3.3(rb_more+#{i}) [0x7f5631856d98]" }.join("\n")}

    -- Other runtime information -----------------------------------------------
    /home/me/pelton/lib/pelton/pelton.so(not_a_frame+0x1) [0x7f5630000000]
    a process of the tests ended by signal 6 in FooTest#test_bar
  TEXT

  def test_the_report_of_a_crash_says_where_it_was
    output = run_tests_with_setup("cat <<'END'; exit 1\n#{CRASH}END")

    assert_equal <<~TEXT, output[/^--- setup failed: .*?(?=^--- \d+ s$)/m], output
      --- setup failed: tmp/test/setup.log
        ./test/foo_test.rb:12: [BUG] Segmentation fault at 0x0000000000000010
          pelton.so(pel_park+0x2a) park.c:40
          pelton.so(0x7f5630000aaa)
          libruby-3.1.so.3.1(rb_vm_exec+0xb3)
      #{(1..12).map { |i| "    ruby3.3(rb_more+#{i})" }.join("\n")}
        a process of the tests ended by signal 6 in FooTest#test_bar
    TEXT
  end

  def test_a_step_with_progress_has_no_limit
    output = run_tests_with_setup("for i in 1 2 3 4 5 6; do sleep 0.5; echo line $i; done; exit 1", limit: 2)

    assert_match(/^line 6\n--- setup: \d+ s .*\n--- setup failed \(status 1\)/, output)
  end

  def test_an_interrupted_run_leaves_no_process
    File.write(File.join(@copy, "bin/setup"),
      "#!/usr/bin/env bash\nsleep 1000 & echo $! >tmp/child; echo ready; wait\n", perm: 0o755)
    IO.popen([child_environment, "bin/test", "unit", chdir: @copy, err: %i[child out]]) do |run|
      assert_includes run.each_line.take_while { |line| line != "ready\n" }, "--- setup\n"
      Process.kill(:TERM, run.pid)

      assert_match(/^0 passed, 1 failed, 0 skipped\n\z/, run.read)
    end
    assert ended?(Integer(File.read(File.join(@copy, "tmp/child"))))
  end

  def test_what_the_last_steps_need_is_set_up_beside_the_first_ones_and_ends_with_the_run
    skip "the first step needs clang-format" unless path("clang-format")
    File.write(File.join(@copy, "bin/setup"), <<~BASH, perm: 0o755)
      #!/usr/bin/env bash
      [[ $* != *downstream* ]] || { echo $$ >tmp/child.new; mv tmp/child.new tmp/child; sleep 1000; }
    BASH
    File.write(File.join(@copy, "Gemfile"), 'gem "rake"')
    File.write(File.join(@copy, "Rakefile"), <<~RUBY)
      task :compile
      task :lint do
        $stdout.sync = true
        sleep 0.01 until File.exist?("tmp/child")
        puts "ready"
        sleep 1000
      end
    RUBY
    IO.popen([child_environment, "bin/test", "all", "downstream", chdir: @copy, err: %i[child out]]) do |run|
      assert_includes run.each_line.take_while { |line| line != "ready\n" }, "--- lint\n"
      Process.kill(:TERM, run.pid)

      assert_match(/^0 passed, 1 failed, 0 skipped\n\z/, run.read)
    end
    assert ended?(Integer(File.read(File.join(@copy, "tmp/child"))))
  end

  def test_bin_pelton_is_pelton_of_the_checkout_in_the_callers_folder
    FileUtils.mkdir(File.join(@copy, "ext"))
    FileUtils.cp(File.join(ROOT, "lib/pelton/pelton.so"), File.join(@copy, "lib/pelton"))
    File.write(File.join(@copy, "bin/setup"), "#!/bin/sh\necho set up for $*\n")
    File.write(File.join(@folder, "hello.rb"), <<~'RUBY')
      puts "hello from #{Dir.pwd}", $LOADED_FEATURES.grep(/pelton/).first
    RUBY
    output, status = Open3.capture2e(child_environment, File.join(@copy, "bin/pelton"), "run", "hello.rb",
      chdir: @folder)

    assert status.success?, output
    assert_match(/\Aset up for --quick --go-on run\nhello from #{@folder}\n#{@copy}\/lib\//, output)
  end

  def test_the_tour_that_bin_pelton_serves
    output = ruby_output(<<~RUBY, gems: true)
      require "pelton/http"
      require "rack"
      app, = Rack::Builder.parse_file("#{ROOT}/examples/tour.ru")
      Pelton.run do
        url = "http://127.0.0.1:\#{Pelton::HTTP::Server.new(app).listen("tcp://127.0.0.1:0").port}"
        slow = Pelton.spawn { puts Pelton::HTTP.get("\#{url}/slow").body }
        %w[/ /fast /count /count].each { |path| puts Pelton::HTTP.get(url + path).body }
        slow.await
        Pelton.stop
      end
    RUBY

    assert_equal "Try /fast, /slow, /count\nfast\n1 visits\n2 visits\nslow, after 1 s\n", output
  end

  # What runs elsewhere runs commands that are here.
  def test_the_workflows_run_tasks_that_there_are
    workflows = Dir["#{ROOT}/.github/workflows/*.yml"].map { |path| YAML.safe_load_file(path, aliases: true) }
    commands =
      workflows.flat_map { |workflow| workflow["jobs"].values }.flat_map { |job| job["steps"] }.filter_map do |step|
        step["run"]
      end
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

    assert_equal 0, status, output
    assert_equal [], made, output
    output.split
  end

  def test_each_purpose_needs_its_own_packages
    unit, core, lint, integration, all = packages("unit"), packages("core"), packages("lint"), packages("integration"),
      packages

    assert_empty (unit | core | lint) & MUCH
    assert_includes unit, "memcached"
    assert_empty [unit, lint].map { |list| list & %w[clang] }.flatten
    assert_empty core & %w[ruby ruby-dev memcached]
    assert_empty lint & %w[build-essential]
    assert_empty MUCH - integration
    assert_equal (unit | core | lint | integration).sort, all.sort
    assert_empty packages("run") - unit
    refute_includes packages("run"), "memcached"
  end

  def test_the_lab_needs_its_peers_and_no_database
    assert_empty packages("lab") & (MUCH - %w[nginx])
    assert_empty %w[nginx wrk apache2-utils memcached] - packages("lab")
  end

  def test_an_unknown_purpose_is_refused
    output, status, made = run_bare("bin/setup", "everything")

    assert_equal 2, status
    assert_equal [], made
    assert_match(/usage: bin\/setup/, output)
  end
end
