# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/installed_gems"
require_relative "../../rakelib/release/check"

# The files that are loaded and the messages that appear with some of the gems installed, by RubyGems alone and under
# Bundler.
class GemsInstalledTest < PeltonTest
  self.deadline = 240

  RUNS = 'EM.run { EM.next_tick { puts "ran"; EM.stop } }'
  MISSING = /add gem "pelton-eventmachine" to the Gemfile, or gem install pelton-eventmachine/

  def test_eventmachine_by_rubys_option_and_by_require
    assert_equal "ran\n", ruby("pelton-eventmachine", "-rpelton/eventmachine", "-e", RUNS)
    assert_equal "ran\n", ruby("pelton-eventmachine", "-e",
      "require 'pelton'; require 'pelton/eventmachine'; require 'em/version'; #{RUNS}")
  end

  def test_eventmachine_where_it_is_not_installed
    assert_match MISSING, ruby("pelton", "-rpelton/eventmachine", "-e", RUNS, succeeds: false)
  end

  def test_eventmachine_under_bundler_in_any_order
    lines = ["gem 'pelton'", "gem 'pelton-eventmachine'"]
    [lines, lines.reverse, lines.last(1)].each do |gemfile|
      assert_equal "ran\n",
        ruby("pelton-eventmachine", "-rbundler/setup", "-rpelton/eventmachine", "-e", RUNS, gemfile: gemfile)
      assert_equal "ran\n",
        ruby("pelton-eventmachine", "-rbundler/setup", "-e", "Bundler.require; #{RUNS}", gemfile: gemfile)
    end
  end

  def test_eventmachine_that_is_not_in_the_gemfile
    assert_match MISSING, ruby("pelton-eventmachine", "-rbundler/setup", "-rpelton/eventmachine", "-e", RUNS,
      gemfile: ["gem 'pelton'"], succeeds: false)
  end

  def test_eventmachine_from_folders_in_any_order
    libraries = Children::LIBRARIES.split(File::PATH_SEPARATOR).map { |path| "-I#{path}" }
    [libraries, libraries.reverse].each do |options|
      assert_equal "ran\n", ruby("pelton", *options, "-rpelton/eventmachine", "-e", RUNS)
    end
  end

  CABLE = "begin; Pelton::Cable::Server.new; rescue LoadError => error; puts error.message; end"

  def test_the_gem_pelton_has_the_cable_and_says_what_its_sockets_need
    assert_match(/needs the gem websocket-driver/, ruby("pelton", "-rpelton/cable", "-e", CABLE))
  end

  def test_the_lab
    assert_match(/^experiments:\n  broker/, run_in("pelton-lab", "pelton", "lab", "--list"))
    assert_match(/gem install pelton-lab, or add gem "pelton-lab" to the Gemfile/,
      run_in("pelton", "pelton", "lab", "--list", succeeds: false))
  end

  def test_the_gem_pelton_brings_logger_and_rack_alone
    assert_equal %w[logger pelton rack],
      Dir.children(File.join(InstalledGems.home("pelton"), "gems")).map { |name| name[/\A[a-z-]+[a-z]/] }.sort
  end

  # documents_test.rb runs the first program of the gem pelton.
  def test_the_first_programs_of_the_gems_readmes
    check = ReleaseCheck.new
    Packages.specifications.reject { |spec| spec.name == "pelton" }.each do |spec|
      check.try(spec, InstalledGems.home(spec.name))
    end
  end

  def test_the_gems_lists_of_files_are_complete
    Packages.specifications.each { |spec| ReleaseCheck.new.complete(spec) }
  end

  private

  def ruby(gem, *arguments, **options) = run_in(gem, RbConfig.ruby, *arguments, **options)

  def run_in(gem, *command, gemfile: nil, succeeds: true)
    Dir.mktmpdir do |folder|
      File.write("#{folder}/Gemfile", gemfile.map { |line| "#{line}\n" }.join) if gemfile
      environment = gemfile ? {"BUNDLE_GEMFILE" => "#{folder}/Gemfile", "BUNDLE_SILENCE_ROOT_WARNING" => "1"} : {}
      output, status = InstalledGems.run(gem, *command, chdir: folder, environment: environment)
      assert_equal succeeds, status.success?, output
      output
    end
  end
end
