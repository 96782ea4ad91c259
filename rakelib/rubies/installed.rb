# frozen_string_literal: true

require "bundler"
require "fileutils"
require_relative "root"
require_relative "tree_copy"

# A Ruby that is installed on this machine, with a copy of the tree and gems of its own in tmp/rubies/. For 4.0 it is
# the one that the variable RUBY_4_0 names, or ruby4.0 of the PATH.
class InstalledRuby
  NAME = /\A\d+\.\d+\z/

  # @param version [String] such as "4.0"
  # @yieldparam line [String] what begins now, if it takes long
  def initialize(version, &progress)
    unless NAME.match?(version)
      raise ArgumentError, "no Ruby is called #{version}: give 3.3, newest, or a version such as 4.0"
    end
    @version, @progress = version, progress
    @variable = "RUBY_#{version.tr(".", "_")}"
    @ruby = ENV.fetch(@variable) do
      ENV["PATH"].split(":").map { |folder| File.join(folder, "ruby#{version}") }.find { |file| File.executable?(file) }
    end
    @folder, @gems, @bin, @log = ["installed-#{version}", "gems-#{version}", "bin-#{version}",
      "#{version}.log"].map { |name| File.join(RubyRoot::FOLDER, name) }
  end

  # Brings the copy and its gems up to date.
  #
  # @raise [RubyRoot::Missing] there is no such Ruby, or its gems cannot be installed
  def prepare(rails: [])
    unless @ruby
      raise RubyRoot::Missing, "there is no ruby#{@version} on the PATH: set #{@variable} to a Ruby #{@version}"
    end
    found = IO.popen(environment, [@ruby, "-e", "print RUBY_VERSION"], unsetenv_others: true, &:read)
    raise ArgumentError, "#{@ruby} is Ruby #{found}, not #{@version}" unless found.start_with?("#{@version}.")
    FileUtils.mkdir_p([@folder, @bin])
    # For bundle exec ruby
    File.write(File.join(@bin, "ruby"), "#!/bin/sh\nexec #{@ruby.shellescape} \"$@\"\n", perm: 0o755)
    TreeCopy.new(@folder, "#{@folder}.files").update
    @progress.call("installing gems")
    run("bundle", "install", "--quiet") or raise RubyRoot::Missing, "its gems cannot be installed: #{@log}"
    @progress.call("compiling")
    run("bundle", "exec", "rake", "--silent", "compile") or
      raise "#{@version}: failed, the end of #{@log} is\n#{File.readlines(@log).last(20).join}"
  rescue SystemCallError => problem
    raise RubyRoot::Missing, "#{@ruby} does not run: #{problem.message}"
  end

  # Becomes a command that runs with this Ruby, in the copy of the tree.
  def exec(*command)
    Kernel.exec(environment, @ruby, "-S", *command, chdir: @folder, unsetenv_others: true)
  end

  private

  def run(*command)
    system(environment, @ruby, "-S", *command, :chdir => @folder, :unsetenv_others => true, %i[out err] => [@log, "w"])
  end

  # That of the user, not that of the Ruby which runs rake.
  def environment
    Bundler.unbundled_env.reject { |name, _| name.start_with?("BUNDLE_", "GEM_") || name == "RUBYLIB" }.merge(
      "PATH" => "#{@bin}:#{File.dirname(@ruby)}:#{ENV["PATH"]}", "BUNDLE_PATH" => @gems,
      "BUNDLE_WITHOUT" => "integration", "BUNDLE_SILENCE_ROOT_WARNING" => "1"
    )
  end
end
