# frozen_string_literal: true

require "open3"
require "tmpdir"
require_relative "../test_helper"

# EventMachine's two ways in, under Bundler.
class EventMachineBundlerTest < PeltonTest
  PROGRAM = <<~'RUBY'
    require "eventmachine"
    require "em/protocols/linetext2"
    EM.run { EM.next_tick { puts "ran", $LOADED_FEATURES.grep(/rubyeventmachine\.so|eventmachine-\d/).size; EM.stop } }
  RUBY

  def bundled(gemfile, env: {}, program: PROGRAM)
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "Gemfile"), gemfile)
      environment = child_environment.merge({"BUNDLE_GEMFILE" => File.join(folder, "Gemfile"), "BUNDLE_SILENCE_ROOT_WARNING" => "1"}, env)
      output, status = Open3.capture2e(environment, "bundle", "exec", "ruby", "-e", program, chdir: folder)
      assert status.success?, output
      output
    end
  end

  def test_a_gem_of_that_name_in_the_gemfile
    assert_equal "ran\n0\n", bundled(<<~GEMFILE)
      gem "pelton", path: "#{ROOT}"
      gem "eventmachine", path: "#{ROOT}/eventmachine"
    GEMFILE
  end

  def test_it_is_what_bundler_requires
    assert_equal "ran\n", bundled(<<~GEMFILE, program: 'require "bundler"; Bundler.require; EM.run { puts "ran"; EM.stop }')
      gem "pelton", path: "#{ROOT}"
      gem "eventmachine", path: "#{ROOT}/eventmachine"
    GEMFILE
  end

  def test_rubys_option_before_bundler_sets_up
    assert_equal "ran\n0\n", bundled("gem \"minitest\"\n", env: {"RUBYOPT" => "-I#{Children::LIB} -rpelton/eventmachine"})
  end

  def test_the_gems_version_is_the_one_that_others_ask_for
    assert_equal "1.2.7\n", bundled(<<~GEMFILE, program: 'gem "eventmachine", "~> 1.2", ">= 1.2.5"; puts Gem.loaded_specs["eventmachine"].version')
      gem "pelton", path: "#{ROOT}"
      gem "eventmachine", path: "#{ROOT}/eventmachine"
    GEMFILE
  end
end
