# frozen_string_literal: true

require "tmpdir"
require "test_helper"

# The two ways to load Pelton's EventMachine, under Bundler.
class EventMachineBundlerTest < PeltonTest
  PROGRAM = <<~'RUBY'
    require "eventmachine"
    require "em/protocols/linetext2"
    EM.run { EM.next_tick { puts "ran", $LOADED_FEATURES.grep(/rubyeventmachine\.so|eventmachine-\d/).size; EM.stop } }
  RUBY

  def bundled(gemfile, env: {}, program: PROGRAM)
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "Gemfile"), gemfile)
      environment =
        child_environment.merge({
          "BUNDLE_GEMFILE" => File.join(folder, "Gemfile"),
          "BUNDLE_SILENCE_ROOT_WARNING" => "1"
        }, env)
      command_output("bundle", "exec", "ruby", "-e", program, env: environment, chdir: folder)
    end
  end

  def test_a_gem_of_that_name_in_the_gemfile
    assert_equal "ran\n0\n", bundled(<<~GEMFILE)
      gem "pelton", path: "#{ROOT}"
      gem "eventmachine", path: "#{ROOT}/eventmachine"
    GEMFILE
  end

  # Bundler finds all of Pelton's gems in the folder of the repository.
  def test_the_folder_of_the_repository
    assert_equal "ran\n0\n", bundled("gem \"eventmachine\", path: \"#{ROOT}\"\n")
  end

  def test_bundler_requires_it
    assert_equal "ran\n",
      bundled(<<~GEMFILE, program: 'require "bundler"; Bundler.require; EM.run { puts "ran"; EM.stop }')
        gem "pelton", path: "#{ROOT}"
        gem "eventmachine", path: "#{ROOT}/eventmachine"
      GEMFILE
  end

  def test_rubyopt_takes_effect_before_bundlers_setup
    assert_equal "ran\n0\n",
      bundled("gem \"minitest\"\n", env: {"RUBYOPT" => "-I#{Children::LIBRARIES} -rpelton/eventmachine"})
  end

  def test_the_gems_version_satisfies_dependents
    program = 'gem "eventmachine", "~> 1.2", ">= 1.2.5"; puts Gem.loaded_specs["eventmachine"].version'
    assert_equal "1.2.7\n",
      bundled(<<~GEMFILE, program: program)
        gem "pelton", path: "#{ROOT}"
        gem "eventmachine", path: "#{ROOT}/eventmachine"
      GEMFILE
  end
end
