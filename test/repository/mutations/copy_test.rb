# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../../rakelib/mutations/copy"
require_relative "../../../rakelib/mutations/ruby_changes"
require "tmpdir"

class MutatedCopyTest < PeltonTest
  Source = Struct.new(:c?)
  Mutant = Struct.new(:path, :text, :source)

  def setup
    super
    @folder = Dir.mktmpdir
    @file = File.join(@folder, "a.rb")
    File.write(@file, "a < b\n")
    File.utime(1, 1, @file)
    @copy = Mutations::Copy.new(@folder)
  end

  def teardown
    FileUtils.rm_rf(@folder)
    super
  end

  def test_a_mutant_is_in_the_copy_for_a_while
    seen = @copy.with(mutant("a <= b\n")) { File.read(@file) }

    assert_equal "a <= b\n", seen
    assert_equal "a < b\n", File.read(@file)
    assert_equal 1, File.mtime(@file).to_i, "it need not be compiled again"
  end

  def test_it_leaves_after_an_error
    assert_raises(IOError) { @copy.with(mutant("a <= b\n")) { raise IOError } }
    assert_equal "a < b\n", File.read(@file)
  end

  def test_what_does_not_parse_is_not_tried
    assert_equal :invalid, @copy.with(mutant("a <\n")) { flunk }
  end

  private

  def mutant(text) = Mutant.new("a.rb", text, Source.new(false))
end
