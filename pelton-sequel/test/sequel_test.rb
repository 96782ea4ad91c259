# frozen_string_literal: true

require "test_helper"
require "tmpdir"

# A Gemfile names the gem; Bundler.require finds its file.
class SequelTest < PeltonTest
  GEMFILE = <<~RUBY
    gem "pelton", path: #{PeltonTest::ROOT.inspect}
    gem "pelton-sequel", path: #{File.join(PeltonTest::ROOT, "pelton-sequel").inspect}
  RUBY

  def test_bundler_requires_it_by_the_gem_s_name
    Dir.mktmpdir("pelton-sequel-") do |folder|
      File.write("#{folder}/Gemfile", GEMFILE)
      output = ruby_output(<<~RUBY, env: {"BUNDLE_GEMFILE" => "#{folder}/Gemfile"}, gems: true)
        require "bundler/setup"
        Bundler.require
        puts Pelton::Sequel.connect("sqlite::memory:").get(1)
      RUBY

      assert_equal "1\n", output
    end
  end
end
