# frozen_string_literal: true

# Runs Sequel's integration specs in one of three ways and prints how each ended, as JSON: {"Class#test" => "passed"}. A
# program of its own, since the specs have their database as a constant. `rake sequel:specs` calls it and compares.
#
#   ruby sequel_specs.rb WAY ADDRESS FILE...
#
# WAY: sequel (its own adapter), outside (Pelton's, where no reactor runs), inside (Pelton's, in a reactor).

require "json"
require "pelton/sequel"

way, address, *files = ARGV.slice!(0..)
ENV["MT_NO_PLUGINS"] = "1"

output = $stdout.dup
$stdout.reopen($stderr) # the specs print, too

run = lambda do
  DB = (way == "sequel") ? Sequel.connect(address) : Pelton::Sequel.connect(address) # standard:disable Lint/ConstantDefinitionInBlock
  Sequel.default_timezone = nil # as the specs have it
  require "minitest"
  Minitest.singleton_class.define_method(:autorun) {} # they run below, on this fiber
  files.each { |file| require file }
  outcomes = {}
  reporter = Class.new(Minitest::AbstractReporter) do
    define_method(:record) do |result|
      how = result.passed? ? "passed" : {"S" => "skipped", "F" => "failed", "E" => "failed"}.fetch(result.result_code)
      outcomes["#{result.klass}##{result.name.sub(/\Atest_\d+_/, "")}"] =
        [how, *(result.failure.message.lines.first(3).join if how == "failed")]
    end
  end.new
  Minitest.seed = 1
  srand(1)
  Minitest.__run(reporter, {seed: 1})
  outcomes
end

outcomes = (way == "inside") ? Pelton.run { run.call } : run.call
output.puts(JSON.generate(outcomes))
output.flush
exit!(0) # minitest would run them again
