# frozen_string_literal: true

require "yaml"
require "downstream/helper"

# The specs of gems that depend on EventMachine. specs_expected.yml lists the specs that fail, each with its reason.
class SpecsTest < DownstreamTest
  EXPECTED = YAML.load_file(File.join(__dir__, "specs_expected.yml"))
  TRIES = 3

  def test_em_http_request = check("em-http-request", "mongrel")

  def test_em_websocket = check("em-websocket", "em_websocket_client")

  private

  # @param stand_in [String] a file in stand_ins/
  def check(gem, stand_in)
    bundled!
    folder = folder_of(gem)
    always, sometimes = EXPECTED.fetch(gem).values_at("always", "sometimes").map(&:keys)
    output = failed = nil
    TRIES.times do
      output = run_specs(folder, ["--require", File.join(__dir__, "stand_ins/#{stand_in}.rb")])
      assert_match(/^\d+ examples, \d+ failures?/, output)
      failed = output.scan(/^rspec \.\/(\S+)/).flatten
      break if (failed - always - sometimes).empty?
    end

    assert_empty failed - always - sometimes, output
    assert_empty always - failed, "they pass now: take them off specs_expected.yml"
  end

  def folder_of(gem)
    IO.popen([bundle_environment, "bundle", "exec", "ruby", "-e", "print Gem.loaded_specs[ARGV[0]].full_gem_path",
      gem], &:read)
  end

  def run_specs(folder, options)
    command = [*self.class.isolation, "timeout", "-k", "5", "100", "bundle", "exec", "ruby", "-W0", "-Ilib", "-Ispec",
      "-S", "rspec", "--no-color",
      *options, "spec"]
    IO.popen(bundle_environment, [*command, chdir: folder, err: [:child, :out], in: File::NULL], &:read).scrub
  end
end
