# frozen_string_literal: true

require "test_helper"
require "tmpdir"

# Programs with the gems of gemfiles/web.rb, in separate processes. `bin/setup downstream` brings these gems.
module WebProgram
  GEMFILE = File.join(PeltonTest::ROOT, "gemfiles/web.rb")
  ENVIRONMENT = {"BUNDLE_GEMFILE" => GEMFILE, "BUNDLE_PATH" => File.join(PeltonTest::ROOT, "tmp/web"),
                 "BUNDLE_SILENCE_ROOT_WARNING" => "1",
                 "RACK_ENV" => "test"}.freeze

  def self.installed?
    return @installed if defined?(@installed)
    @installed = system(Bundler.unbundled_env.merge(ENVIRONMENT), "bundle", "check", unsetenv_others: true,
      out: File::NULL, err: File::NULL)
  end

  # @param files [Hash{String => String}] that are there when it runs
  # @return [String] what a program has printed that runs in an empty folder
  def web_output(code, files: {}, deadline: 60)
    skip "bin/setup downstream brings the gems of gemfiles/web.rb" unless WebProgram.installed?
    Dir.mktmpdir do |folder|
      files.each do |path, text|
        FileUtils.mkdir_p(File.dirname(File.join(folder, path)))
        File.write(File.join(folder, path), text)
      end
      ruby_output("Dir.chdir(ARGV.shift)\nrequire \"bundler/setup\"\n#{code}", folder, env: ENVIRONMENT, gems: true,
        deadline: deadline)
    end
  end

  # @return [String] the indented code below a heading of a guide
  def guide_code(guide, heading)
    text = File.read(File.join(PeltonTest::ROOT, "docs/guides/#{guide}"), encoding: "UTF-8")
    section = text[/^## #{Regexp.escape(heading)}$.*?(?=^## |\z)/m] || flunk("#{guide} has no heading #{heading}")
    section.lines.grep(/\A(?: {4}|\s*\z)/).join.gsub(/^ {4}/, "")
  end
end
