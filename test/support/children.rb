# frozen_string_literal: true

require "open3"
require "rbconfig"
require "tempfile"

# Ruby programs in processes of their own, for behaviour that cannot be tested inside the test's process.
module Children
  LIB = File.expand_path("../../lib", __dir__)
  # The same and those of the gems beside it, as Ruby's -I and RUBYLIB take them. One list for all tests.
  LIBRARIES = Dir["{lib,pelton-*/lib}", base: File.expand_path("../..", __dir__)]
    .map { |path| File.expand_path("../../#{path}", __dir__) }.join(File::PATH_SEPARATOR)
  # The load paths of the gems that Pelton's files require and that Ruby 4.0 no longer has in its own folder.
  BUNDLED = %w[logger ostruct].filter_map { |name| Gem.loaded_specs[name] }.flat_map(&:full_require_paths)
  # The command that runs `pelton`; its arguments follow.
  PELTON = [RbConfig.ruby, "-I#{LIB}", File.expand_path("../../exe/pelton", __dir__)].freeze

  # Programs that tests start find the bundle's gems, but do not load Bundler, which takes longer than all the rest.
  def self.unbundle
    return unless defined?(Bundler)
    %w[RUBYOPT RUBYLIB].each { |name| ENV[name] = Bundler.original_env[name] }
    ENV["GEM_PATH"] = Gem.path.join(File::PATH_SEPARATOR)
  end

  # Runs `code` in a fresh Ruby with the libs of Pelton's gems on its load path, and without the options of this Ruby.
  # It starts without RubyGems, which would take most of the time; `gems: true` is for a program that needs gems.
  # Returns what it wrote to stdout and stderr, and its Process::Status. A child that takes longer than `deadline`
  # seconds (times PeltonTest::PATIENCE) is killed with Ruby's report of where it was, and the test fails with it.
  #
  # `arguments` are the program's ARGV, `env` is added to the environment, `options` go to Ruby itself. The watchdog is
  # off, because it would print reports on a busy machine.
  def run_ruby(code, *arguments, env: {}, stdin: "", options: [], deadline: 20, gems: false)
    files = [stdin, "", ""].map { |content| Tempfile.new("child").tap { |file| (file << content).rewind } }
    options = ["--disable=gems", *options] unless gems
    command = [RbConfig.ruby, "-W1", "-I#{[LIBRARIES, *BUNDLED].join(File::PATH_SEPARATOR)}", *options, "-e", code,
      "--", *arguments.map(&:to_s)]
    pid = Process.spawn(child_environment.merge("PELTON_WATCHDOG" => "off", **env), *command, in: files[0],
      out: files[1], err: files[2])
    status = reap(pid, limit = deadline * PeltonTest::PATIENCE)
    output, errors = files.last(2).map { |file| file.tap(&:rewind).read }
    flunk "the child took longer than #{limit} s:\n#{output}\n#{errors}" unless status
    [output, errors, status]
  ensure
    files&.each(&:close!)
  end

  # The same for a program that must succeed: its stdout.
  def ruby_output(code, *arguments, **options)
    output, errors, status = run_ruby(code, *arguments, **options)
    assert status.success?, "#{status}\n#{output}\n#{errors}"
    output
  end

  # Runs a command that must succeed: its output, errors included.
  def command_output(*command, env: child_environment, **options)
    output, status = Open3.capture2e(env, *command, **options)
    assert status.success?, "#{status}\n#{output}"
    output
  end

  # Whether a process has ended. A zombie that nobody reaps has ended as well.
  def ended?(pid)
    !File.read("/proc/#{pid}/stat").match?(/\) [^ZX] /)
  rescue Errno::ENOENT, Errno::ESRCH
    true
  end

  private

  # Minitest would load the plugins of all installed gems: Rails' changes how errors are printed.
  def child_environment
    without = ENV.keys.grep(/\A(BUNDLE|BUNDLER|RUBYOPT|RUBYLIB|MT_)/).to_h { |name| [name, nil] }
    without.merge("GEM_PATH" => Gem.path.join(File::PATH_SEPARATOR), "MT_NO_PLUGINS" => "1",
      "RUBYOPT" => ENV["TYPES_PROGRAMS"])
  end

  # The status, or nil when the process had to be killed.
  def reap(pid, deadline)
    [[nil, deadline], ["SEGV", 5], ["KILL", 5]].each do |signal, seconds|
      Process.kill(signal, pid) if signal
      limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
      until Process.wait(pid, Process::WNOHANG)
        break true if Process.clock_gettime(Process::CLOCK_MONOTONIC) > limit
        sleep 0.003
      end || (return signal ? nil : $?)
    end
    nil
  end
end
