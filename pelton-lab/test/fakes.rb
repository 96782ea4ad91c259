# frozen_string_literal: true

require_relative "fake_server"

# Contenders of all kinds, for the tests of the runner.
Pelton::Lab.experiment "fakes" do
  about "contenders that need no server"

  race "characters", size: 10, rounds: 3, rehearsal: 2 do
    baseline "right", style: "blocking" do |run|
      run.measure { run.size.times { run.expect(4, 2 + 2) } }
      run.record(:size, run.size)
      run.record(:rehearsal, run.rehearsal?)
    end
    contender("wrong") { |run| run.measure { run.expect("value1", "value2", "key1") } }
    contender("wrong and silent") do |run|
      run.measure do
        run.wrong("swallowed")
      rescue
        nil
      end
    end
    contender("raising") { |run| run.measure { raise ArgumentError, "no such thing" } }
    contender("without Bundler") do |run|
      run.measure { require "minitest" }
      run.record(:bundled, $LOADED_FEATURES.grep(%r{/bundler/setup\.rb\z}).any?)
    end
    contender("exiting") { |run| run.measure { exit 3 } }
    contender("without a library") { |_run| require "pelton_has_no_such_library" }
    contender("measuring nothing") { |_run| nil }
    contender("crashing") do |run|
      run.measure do
        warn "last words"
        Process.kill(:KILL, Process.pid)
      end
    end
    target 99, "wrong / right", of: "wrong", at_most: 1
  end

  race "servers", size: 1, rounds: 2, rounds_per_process: 2 do
    contender("in rounds") do |run|
      run.measure_server(FakeServer.new) { FakeServer::DONE }
    end
    contender("wrong at last") do |run|
      run.measure_server(FakeServer.new) { FakeServer::DONE }
      run.wrong("at last")
    end
    contender("no server") { |run| run.measure {} }
    contender("raising") { |_run| raise ArgumentError, "no such thing" }
    contender("ending") do |run|
      run.measure_server(FakeServer.new) { Process.kill(:KILL, Process.pid) }
    end
    contender("hanging") { |run| run.measure_server(FakeServer.new) { sleep } }
  end

  race "deadlines", size: 1, rounds: 2 do
    contender("hanging") { |run| run.measure { sleep } }
    contender("hanging with a child") do |run|
      run.measure do
        pid = spawn("sleep", "1000")
        File.write(ENV.fetch("PELTON_LAB_FAKE"), "#{pid}\n") if ENV["PELTON_LAB_FAKE"]
        Process.wait(pid)
      end
    end
  end
end
