# frozen_string_literal: true

require "tmpdir"
require_relative "helper"

class EventMachineFileWatchTest < EventMachineTest
  def run_watch(log, path)
    em do
      watch = EM.watch_file(path, handler(
        file_modified: -> { log << :modified },
        file_moved: -> { log << :moved },
        file_deleted: -> { log << :deleted },
        unbind: -> { log << :unbind && EM.stop }
      ))
      yield watch
    end
  end

  def with_watched_file
    Dir.mktmpdir do |folder|
      path = File.join(folder, "file")
      File.write(path, "")
      yield path
    end
  end

  def test_changes_call_the_handler
    log = []
    with_watched_file do |path|
      run_watch(log, path) do |watch|
        assert_equal path, watch.path
        File.write(path, "more")
        EM.add_timer(0.01) { File.rename(path, "#{path}2") }
        EM.add_timer(0.02) { File.unlink("#{path}2") }
      end
    end

    assert_equal [:modified, :moved, :deleted, :unbind], log.uniq
  end

  def test_a_file_that_is_open_is_deleted_when_its_name_is_gone
    log = []
    with_watched_file do |path|
      run_watch(log, path) { File.open(path) { File.unlink(path) } }
    end

    assert_equal [:deleted, :unbind], log
  end

  def test_the_files_of_a_folder
    log = []
    Dir.mktmpdir do |folder|
      run_watch(log, folder) do |watch|
        File.write(File.join(folder, "new"), "")
        once(-> { log.include?(:modified) }) { watch.stop_watching }
      end
    end

    assert_equal [:modified, :unbind], log.uniq
  end

  def test_two_watches_of_a_file_are_both_called
    log = []
    with_watched_file do |path|
      run_watch(log, path) do
        second = EM.watch_file(path, handler(file_modified: -> { log << :second }))
        assert_raises(EM::InvalidSignature) { second.stop_watching }
        File.write(path, "x")
        once(-> { log.uniq.size == 2 }) { EM.stop }
      end
    end

    assert_equal [:modified, :second], log.grep(/modified|second/).uniq.sort
  end

  def test_a_watch_that_ends_leaves_none_in_the_kernel
    counts = []
    with_watched_file do |path|
      em do
        watches = [path, File.dirname(path)].map { |watched| EM.watch_file(watched, handler({})) }
        counts << kernel_watches
        watches.first.stop_watching
        counts << kernel_watches
        EM.stop
      end
    end

    assert_equal 1, counts[0] - counts[1]
  end

  def test_an_unknown_file_raises
    em do
      error = assert_raises(EM::Unsupported) { EM.watch_file("/nowhere/at/all") }
      assert_equal "error registering file /nowhere/at/all for watching: No such file or directory", error.message
      assert_raises(ArgumentError) { EM.watch_file("/", EM::Connection) }
      EM.stop
    end
  end

  private

  def kernel_watches
    Dir["/proc/self/fdinfo/*"].sum { |file| File.exist?(file) ? File.read(file).scan(/^inotify wd/).size : 0 }
  end
end
