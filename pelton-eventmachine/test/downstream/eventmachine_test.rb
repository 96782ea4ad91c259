# frozen_string_literal: true

require "yaml"
require "downstream/helper"

# EventMachine's own tests, file by file. eventmachine_expected.yml lists the tests that fail, each with its reason.
class EventMachineDownstreamTest < DownstreamTest
  GEM = "eventmachine-1.2.7"
  EXPECTED = YAML.load_file(File.join(__dir__, "eventmachine_expected.yml"))

  # Some of these tests expect an event within a tenth of a second, so on a busy machine a file is tried again.
  TRIES = 3

  LOADER = 'gem "test-unit"; $0 = ARGV.shift; load $0'

  files = Dir[File.join(UNPACKED, GEM, "tests/test_*.rb")].sort
  files.each do |file|
    name = File.basename(file, ".rb")
    define_method(:"#{name}_of_the_gem") { check(name, file) }
  end

  def test_the_gems_tests_are_unpacked
    unpacked(GEM)

    refute_empty self.class.runnable_methods
  end

  def test_the_expected_failures_are_of_tests_that_exist
    tests = Dir[File.join(unpacked(GEM), "tests/test_*.rb")].to_h { |file| [file, File.read(file)] }
    EXPECTED.values_at("always", "sometimes", "without_network").flat_map(&:keys).each do |name|
      type, test = name.split("#")
      assert(tests.values.any? { |text| text.match?(/class #{type}\b/i) && text.include?("def #{test}") },
        "#{name} is not there")
    end
  end

  private

  def check(name, file)
    output = unexpected = nil
    TRIES.times do
      output = run_file(file)
      unexpected = failed(output) - expected
      break if unexpected.empty?
    end
    assert_empty unexpected, output
    assert_match(/^\d+ tests, \d+ assertions/, output) unless EXPECTED.fetch("nothing_to_run").key?(name)
    passing = (EXPECTED.fetch("always").keys & tests_of(output)) - failed(output)

    assert_empty passing, "they pass now: take them off eventmachine_expected.yml"
  end

  def run_file(file)
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "a_file"), "x") # a test lists the folder and expects something
      run_on_pelton("-I", File.dirname(file), "-e", LOADER, "--", file, "-v", "--no-use-color", folder: folder)
    end
  end

  def failed(output) = output.scan(/^(?:Failure|Error): (\S+)\((\S+)\)/).map { |test, type| "#{type}##{test}" }.uniq

  def expected
    groups = %w[always sometimes]
    groups << "without_network" if self.class.isolated?
    groups.flat_map { |group| EXPECTED.fetch(group).keys }
  end

  def tests_of(output)
    type = nil
    output.lines.filter_map do |line|
      type = line[/\A(\w+): *$/, 1] || type
      "#{type}##{line[/\A\s+(test_\S+):/, 1]}" if line.match?(/\A\s+test_\S+:/)
    end
  end
end
