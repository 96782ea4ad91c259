# frozen_string_literal: true

require_relative "../test_helper"
require "pelton"
require "tmpdir"

class InotifyTest < PeltonTest
  def setup
    skip "only Linux has it" unless Pelton.const_defined?(:Inotify)
    @folder = Dir.mktmpdir
    @io = IO.for_fd(Pelton::Inotify.open)
  end

  def teardown
    @io&.close
    FileUtils.rm_rf(@folder) if @folder
  end

  def test_a_file_has_one_watch_until_it_is_removed
    watch = Pelton::Inotify.add(@io.fileno, @folder)

    assert_equal watch, Pelton::Inotify.add(@io.fileno, @folder)
    assert_equal :wait_readable, @io.read_nonblock(4096, exception: false)
    File.write("#{@folder}/new", "")
    assert_equal watch, @io.read_nonblock(4096).unpack1("i")
    assert_equal [true, false], Array.new(2) { Pelton::Inotify.remove(@io.fileno, watch) }
  end

  def test_a_file_that_is_not_there
    assert_raises(Errno::ENOENT) { Pelton::Inotify.add(@io.fileno, "#{@folder}/nowhere") }
  end
end
