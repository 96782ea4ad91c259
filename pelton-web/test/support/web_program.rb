# frozen_string_literal: true

require "test_helper"
require_relative "../../../test/support/gem_program"

# Programs with the gems of gemfiles/web.rb, in separate processes. `bin/setup downstream` brings these gems.
module WebProgram
  include GemProgram

  GEMS = GemProgram::Gems.new("gemfiles/web.rb", folder: "tmp/web", environment: {"RACK_ENV" => "test"})

  # What a program prints that runs in an empty folder, with the options of {GemProgram#program_output}.
  def web_output(code, **options) = program_output(GEMS, "require \"bundler/setup\"\n#{code}", **options)

  # @return [String] the indented code below a heading of a guide
  def guide_code(guide, heading)
    text = File.read(File.join(PeltonTest::ROOT, "docs/guides/#{guide}"), encoding: "UTF-8")
    section = text[/^## #{Regexp.escape(heading)}$.*?(?=^## |\z)/m] || flunk("#{guide} has no heading #{heading}")
    section.lines.grep(/\A(?: {4}|\s*\z)/).join.gsub(/^ {4}/, "")
  end
end
