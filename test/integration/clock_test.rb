# frozen_string_literal: true

require_relative "../test_helper"
require "tmpdir"

# libfaketime sets the system's time of day while the loop waits: no timer may fire early, late or never.
class ClockChangeTest < PeltonTest
  LIBRARY = Dir["/usr/lib/*/faketime/libfaketime.so.1"].first

  PROGRAM = <<~RUBY
    require "pelton"
    log = []
    before = Time.now
    Pelton.run do
      far = Pelton.add_timer(60) { log << :far }
      Pelton.add_timer(0.03) { log << :near }
      periodic = Pelton.add_periodic_timer(0.02) { log << :periodic unless log.include?(:periodic) }
      Pelton.spawn { sleep 0.04 and log << :slept }
      late = Pelton.spawn { Pelton::Operation.new.await(timeout: 0.05) }
      Pelton.next_tick { File.write(ENV["FAKETIME_TIMESTAMP_FILE"], ARGV[0]) }
      begin
        late.await
      rescue Pelton::TimeoutError
        log << :late
      end
      [far, periodic].each(&:cancel)
    end
    p log, ((Time.now - before) / 3600).round
  RUBY

  def setup
    skip "libfaketime is not installed" unless LIBRARY
  end

  {"forward" => 5, "back" => -5}.each do |direction, hours|
    define_method("test_the_clock_is_set_#{direction}") do
      assert_equal "[:periodic, :near, :slept, :late]\n#{hours}\n", set_clock(format("%+dh", hours))
    end
  end

  private

  def set_clock(by)
    Dir.mktmpdir do |folder|
      file = "#{folder}/time"
      File.write(file, "+0")
      environment = {"LD_PRELOAD" => LIBRARY, "FAKETIME_TIMESTAMP_FILE" => file, "FAKETIME_NO_CACHE" => "1",
                     "DONT_FAKE_MONOTONIC" => "1"}
      return ruby_output(PROGRAM, by, env: environment)
    end
  end
end
