# frozen_string_literal: true

require_relative "../test_helper"
require "etc"
require "fileutils"
require "json"
require "open3"
require "pelton/lab/programs"
require "pelton/version"
require "rbconfig"
require "tmpdir"

# The lab of the installed gem, in another folder, with no other gem and with no memcached: as somebody has it who has just
# heard of Pelton.
class LabInstalledTest < PeltonTest
  self.deadline = 240

  def test_it_measures_from_the_installed_gem_alone
    Dir.mktmpdir do |folder|
      gem("build", "pelton.gemspec", "--output", package = File.join(folder, "pelton.gem"))
      gem("install", "--local", "--no-document", "--install-dir", home = File.join(folder, "gems"), package)
      file = File.join(home, "gems/pelton-#{Pelton::VERSION}/examples/lab/three_services.rb")
      output, status = lab(home, folder, "memcached", file, "--size", "10", "--rounds", "1", "--html", "report.html", "--json", "report.json")

      assert_predicate status, :success?, output
      report = JSON.parse(File.read(File.join(folder, "report.json")))
      statuses = report["contenders"].group_by { |contender| contender["status"] }.transform_values { |all| all.map { |one| one["name"] } }

      assert_empty statuses.fetch("refused", []), output
      assert_includes statuses["measured"], "Pelton, one fiber"
      assert_includes statuses["measured"], "Pelton, a fiber each"
      assert_includes statuses["skipped"], "libmemcached"
      assert_match(/skipped: libmemcached: the gem memcached is not installed/, output)
      assert_includes report["environment"]["versions"]["servers"], "Pelton's embedded memcached #{Pelton::VERSION}"
      assert_includes File.read(File.join(folder, "report.html")), "Pelton&#39;s embedded memcached"
      assert(report["contenders"].select { |one| one["race"] == "set, get, delete" && one["name"].start_with?("Pelton,") }.all? { |one| one["ratio"] })
    end
  end

  private

  def clean(&block) = defined?(Bundler) ? Bundler.with_unbundled_env(&block) : yield

  def gem(*arguments)
    output, status = clean { Open3.capture2e({"MAKEFLAGS" => "-j#{Etc.nprocessors}"}, RbConfig.ruby, "-S", "gem", *arguments, chdir: ROOT) }

    assert_predicate status, :success?, output
  end

  # With a PATH that has what the lab needs, and no memcached.
  def lab(home, folder, *arguments)
    programs = File.join(folder, "bin")
    FileUtils.mkdir(programs)
    %w[taskset setpriv].each { |name| File.symlink(Pelton::Lab::Programs.find(name), File.join(programs, name)) if Pelton::Lab::Programs.find(name) }
    File.symlink(RbConfig.ruby, File.join(programs, "ruby"))
    environment = {"GEM_HOME" => home, "GEM_PATH" => home, "PATH" => programs, "RUBYLIB" => nil, "RUBYOPT" => nil}
    clean { Open3.capture2e(environment, RbConfig.ruby, File.join(home, "bin/pelton"), "lab", *arguments, chdir: folder) }
  end
end
