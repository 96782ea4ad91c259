# frozen_string_literal: true

require_relative "../test_helper"
require_relative "gem_program"
require_relative "temporary_folder"

class GemProgramTest < PeltonTest
  include GemProgram
  include TemporaryFolder

  LOCK = "GEM\n  specs:\n\nPLATFORMS\n  ruby\n\nDEPENDENCIES\n"

  def test_a_program_has_the_gems_and_the_variables_and_an_empty_folder_with_its_files
    gems = gems_of("", lock: LOCK, environment: {"RACK_ENV" => "test"})
    output = program_output(gems, <<~RUBY, 1, files: {"a/b.txt" => "text"}, env: {"OTHER" => "2"})
      p ARGV, Dir["**/*"], File.read("a/b.txt")
      puts ENV.values_at("BUNDLE_GEMFILE", "BUNDLE_PATH", "RACK_ENV", "OTHER")
    RUBY

    assert_equal ['["1"]', '["a", "a/b.txt"]', '"text"', "#{@folder}/Gemfile", "#{@folder}/gems", "test", "2"],
      output.lines(chomp: true)
    assert_equal ["#{@folder}/Gemfile", "test"], gems.whole_environment.values_at("BUNDLE_GEMFILE", "RACK_ENV")
  end

  def test_a_program_that_fails_fails_the_test_with_what_it_has_written
    error = assert_raises(Minitest::Assertion) { program_output(gems_of("", lock: LOCK), 'puts "one"; abort "two"') }

    assert_match(/one\n.*two/m, error.message)
  end

  def test_gems_that_were_not_set_up_or_are_gone
    gone = LOCK.sub("specs:\n", "specs:\n    pelton-nowhere (1.0)\n") + "  pelton-nowhere\n"
    [["", nil], ['gem "pelton-nowhere"', gone]].each do |gemfile, lock|
      error = assert_raises(Minitest::Skip) { program_output(gems_of(gemfile, lock: lock), "") }

      assert_equal "bin/setup downstream brings the gems of #{@folder}/Gemfile", error.message
    end
    error = assert_raises(Minitest::Skip) { needs_gems(gems_of("", missing: "no gems")) }

    assert_equal "no gems", error.message
  end

  private

  # Without a lock: as `bin/setup` has not left one.
  def gems_of(gemfile, lock: nil, **options)
    FileUtils.rm_f("#{@folder}/Gemfile.lock")
    File.write("#{@folder}/Gemfile", "#{gemfile}\n")
    File.write("#{@folder}/Gemfile.lock", lock) if lock
    GemProgram::Gems.new("#{@folder}/Gemfile", folder: "#{@folder}/gems", **options)
  end
end
