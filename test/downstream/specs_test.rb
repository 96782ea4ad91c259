# frozen_string_literal: true

require "yaml"
require_relative "helper"

# The specs of gems that stand on EventMachine. Those that fail on EventMachine itself are in specs_expected.yml.
class SpecsTest < DownstreamTest
  EXPECTED = YAML.load_file(File.join(__dir__, "specs_expected.yml"))
  TRIES = 3

  def test_em_http_request = check("em-http-request", "--require", File.join(__dir__, "stand_ins/mongrel.rb"))

  def test_em_websocket = check("em-websocket")

  private

  def check(gem, *options)
    bundled!
    folder = folder_of(gem)
    output = unexpected = nil
    TRIES.times do
      output = run_specs(folder, options)
      assert_match(/^\d+ examples, \d+ failures/, output)
      unexpected = output.scan(/^rspec \.\/(\S+)/).flatten - EXPECTED.fetch(gem).keys
      break if unexpected.empty?
    end

    assert_empty unexpected, output
  end

  def folder_of(gem)
    IO.popen([bundle_environment, "bundle", "exec", "ruby", "-e", "print Gem.loaded_specs[ARGV[0]].full_gem_path", gem], &:read)
  end

  def run_specs(folder, options)
    command = [*self.class.isolation, "timeout", "-k", "5", "100", "bundle", "exec", "ruby", "-W0", "-Ilib", "-Ispec", "-S", "rspec", "--no-color",
      *options, "spec"]
    IO.popen(bundle_environment, [*command, chdir: folder, err: [:child, :out], in: File::NULL], &:read).scrub
  end
end
