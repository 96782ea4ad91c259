# frozen_string_literal: true

require_relative "test_helper"
require "open3"
require "tmpdir"

# Tests the gem pelton alone; pelton-eventmachine/test has the tests of the gem that this file loads.
class EventMachineEntryTest < PeltonTest
  def test_it_names_the_gem_that_is_missing
    output, status = ruby_without_gems("-I#{Children::LIB}", "-rpelton/eventmachine")

    refute_predicate status, :success?
    assert_match(/add gem "pelton-eventmachine" to the Gemfile, or gem install pelton-eventmachine \(LoadError\)/,
      output)
    refute_match(/cannot load such file/, output)
  end

  def test_an_error_of_the_gem_is_left_as_it_is
    Dir.mktmpdir do |folder|
      File.write("#{folder}/pelton-eventmachine.rb", "require 'pelton_has_no_such_library'")
      output, = ruby_without_gems("-I#{Children::LIB}", "-I#{folder}", "-rpelton/eventmachine")

      assert_match(/cannot load such file -- pelton_has_no_such_library/, output)
    end
  end

  private

  def ruby_without_gems(*options)
    Open3.capture2e(child_environment, RbConfig.ruby, "--disable=gems", *options, "-e", "")
  end
end
