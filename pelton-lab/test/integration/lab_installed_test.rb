# frozen_string_literal: true

require "test_helper"
require "fileutils"
require "json"
require "pelton/lab/programs"
require "pelton/version"
require "rbconfig"
require "support/installed_gems"
require "tmpdir"

# The lab of the installed gem, in another folder, with its dependencies alone and without memcached, as for a
# newcomer.
class LabInstalledTest < PeltonTest
  self.deadline = 240

  def test_it_measures_from_the_installed_gem_alone
    Dir.mktmpdir do |folder|
      file = File.join(InstalledGems.home("pelton-lab"), "gems/pelton-lab-#{Pelton::VERSION}/examples/three_services.rb")
      output, status = lab(folder, "memcached", file, "--size", "10", "--rounds", "1", "--html", "report.html", "--json", "report.json")

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

  # With a PATH of the programs that the lab needs, without memcached.
  def lab(folder, *arguments)
    programs = File.join(folder, "bin")
    FileUtils.mkdir(programs)
    %w[taskset setpriv].each { |name| File.symlink(Pelton::Lab::Programs.find(name), File.join(programs, name)) if Pelton::Lab::Programs.find(name) }
    File.symlink(RbConfig.ruby, File.join(programs, "ruby"))
    InstalledGems.run("pelton-lab", RbConfig.ruby, File.join(InstalledGems.home("pelton-lab"), "bin/pelton"), "lab", *arguments, chdir: folder, environment: {"PATH" => programs})
  end
end
