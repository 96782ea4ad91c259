# frozen_string_literal: true

require "test_helper"
require "pelton/lab/programs"
require "pelton/lab/web/example_chat"
require "pelton/lab/web/rails_engines"
require_relative "small_runs"

# The experiments with web servers, small: every installed server answers rightly, and each target of Pelton has a
# value.
class LabWebTest < PeltonTest
  include SmallRuns

  self.deadline = 240

  def run_small(...)
    %w[ab wrk nginx].each { |program| skip "no #{program}" unless Pelton::Lab::Programs.find(program) }
    super.each do |comparison|
      comparison.race.targets.map { |target| target.check(comparison) }.each do |check|
        assert check.value || check.reason.match?(/is not installed/), check.reason
      end
    end
  end

  def test_hello
    run_small("hello", "--size", "1", races: %r{keep-alive|HTTP/2|JSON|CPU})
  end

  def test_hello_with_other_connections
    run_small("hello", "--size", "1", "--no-peers", races: /connections/)
  end

  def test_broker
    run_small("broker", "--size", "20")
  end

  def test_models
    run_small("models", "--size", "20", races: /five users|an insert, SQLite/)
  end

  def test_rails
    run_small("rails", "--size", "1", races: /a room, SQLite|messages, PostgreSQL|another service|a post/)
  end

  def test_rails_engines
    Pelton::Lab::RailsEngines.new.unavailable&.then { |reason| skip reason }
    run_small("rails_engines", "--size", "16", races: /a board, SQLite|a nested page, PostgreSQL/)
  end

  def test_jobs
    gems = Pelton::Lab::RailsEngines.new
    skip "async needs Ruby 3.3" if RUBY_VERSION < "3.3"
    gems.unavailable&.then { |reason| skip reason }
    run_small("jobs", "--size", "10", races: /SQLite|streams/)
  end

  def test_cable
    run_small("cable", "--size", "2", races: /1,000|broadcasts|subscriptions|worker/)
  end

  def test_chat
    unless system({"BUNDLE_GEMFILE" => File.join(Pelton::Lab::ExampleChat::FOLDER, "Gemfile")}, RbConfig.ruby, "-S",
      "bundle", "check", out: File::NULL, err: File::NULL)
      skip "the chat's gems are not installed"
    end
    run_small("chat", "--size", "16", races: /fragments|posts|users/)
  end

  def test_edge
    skip "no h2load" unless Pelton::Lab::Programs.find("h2load")
    run_small("edge", "--size", "2") # a second may bring no more than the handshakes
  end

  def test_web
    run_small("web", "--size", "1")
  end

  # Three connections, three slow readers of 8 MB, three uploads of 100 MB.
  def test_connections
    run_small("connections", "--size", "3")
  end

  def test_slow
    run_small("slow", "--size", "2", races: /a thousand/) # the others sleep for minutes, one after the other
  end
end
