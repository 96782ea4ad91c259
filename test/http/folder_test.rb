# frozen_string_literal: true

require "tmpdir"
require_relative "../test_helper"
require "pelton/http"

# core/files/test_folder.c has what lies outside.
class HTTPFolderTest < PeltonTest
  def with_folder
    Dir.mktmpdir do |parent|
      Dir.mkdir("#{parent}/real")
      File.symlink("real", "#{parent}/link")
      File.write("#{parent}/real/a", "content")
      yield Pelton::HTTP::Folder.new("#{parent}/link"), parent
    end
  end

  def test_names_by_its_path_and_by_its_real_path
    with_folder do |folder, parent|
      assert_equal "a/b", folder.name_of("#{parent}/link/a/b")
      assert_equal "a/b", folder.name_of("#{File.realpath(parent)}/real/a/b")
      assert_nil folder.name_of("#{parent}/link2/a")
      assert_nil folder.name_of("#{parent}/link")
      assert_equal "#{parent}/link", folder.path
    end
  end

  def test_opening
    with_folder do |folder|
      assert_equal "content", folder.open("a").tap(&:binmode).read
      assert_raises(Errno::ENOENT) { folder.open("b") }
      assert_raises(Errno::EXDEV) { folder.open("../real/a") }
      assert_raises(ArgumentError) { folder.open("a\0") }
    end
  end

  def test_a_folder_that_is_missing
    assert_raises(Errno::ENOENT) { Pelton::HTTP::Folder.new("/nowhere/at/all") }
  end
end
