# frozen_string_literal: true

require_relative "test_helper"
require "open3"
require "tmpdir"
require "pelton/program"

class ProgramTest < PeltonTest
  def test_the_options_of_ruby_are_kept
    assert_equal ["-W1", "-I", "one", "-Itwo", "-rset", "a.rb", "b c", ""],
      command("a.rb", "b c", "", options: %w[-W1 -I one -Itwo -rset])
  end

  def test_no_options
    assert_equal %w[a.rb -x], command("a.rb", "-x", options: [])
  end

  def test_a_program_that_ruby_has_found_on_the_path
    name, folder = "program-#{Process.pid}", Dir.mktmpdir
    write("#{folder}/#{name}")
    output = started(folder, "-W1", "-S", name, "a", env: {"PATH" => "#{folder}:#{ENV["PATH"]}"})

    assert_equal ["-W1", "-S", "#{folder}/#{name}", "a"], output
  ensure
    FileUtils.rm_rf(folder)
  end

  def test_an_option_that_changes_the_folder_is_not_used_twice
    Dir.mktmpdir do |folder|
      Dir.mkdir("#{folder}/below")
      write("#{folder}/below/a.rb")

      assert_equal ["-I", LIB, "a.rb"], started(folder, "-C", "below", "a.rb")
    end
  end

  # The title lies where the command line was.
  def test_a_program_that_has_a_title
    assert_equal ["-I", LIB, "other", "a"],
      command("a.rb", "a", options: %w[-W1], before: "$0 = 'other'; Process.setproctitle('other a');")
  end

  private

  # What starts `a.rb` again, beginning after the name of Ruby.
  def command(*words, options:, before: "")
    Dir.mktmpdir do |folder|
      write("#{folder}/a.rb", before)
      started(folder, *options, *words)
    end
  end

  def write(path, before = "")
    File.write(path, "#{before} require #{File.join(ROOT, "lib/pelton/program").dump}; print " \
      "Marshal.dump(Pelton.const_get(:Program).command(ARGV))")
  end

  def started(folder, *words, env: {})
    output, status = Open3.capture2(child_environment.merge(env), RbConfig.ruby, *words, chdir: folder)
    assert status.success?
    ruby, *rest = Marshal.load(output)
    assert_equal RbConfig.ruby, ruby
    rest
  end
end
