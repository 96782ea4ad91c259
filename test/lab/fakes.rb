# frozen_string_literal: true

# Contenders of every character, for the tests of what runs them.
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
    contender("wrong only when timed") { |run| run.measure { run.expect(true, run.rehearsal?, "the rehearsal") } }
    contender("raising") { |run| run.measure { raise ArgumentError, "no such thing" } }
    contender("without Bundler") do |run|
      run.measure { require "minitest" }
      run.record(:bundled, $LOADED_FEATURES.grep(%r{/bundler/setup\.rb\z}).any?)
    end
    contender("exiting") { |run| run.measure { exit 3 } }
    contender("without a library") { |_run| require "pelton_has_no_such_library" }
    contender("without its gem", gem: "pelton-has-no-such-gem") { |run| run.measure {} }
    contender("measuring nothing") { |_run| nil }
    contender("crashing") do |run|
      run.measure do
        warn "last words"
        Process.kill(:KILL, Process.pid)
      end
    end
    target 99, "wrong / right", of: "wrong", at_most: 1
  end

  race "sizes", size: 10, rounds: 1 do
    contender("all") do |run|
      run.measure {}
      run.record(:size, run.size)
    end
    contender("small", at_most: 5) do |run|
      run.measure {}
      run.record(:size, run.size)
    end
  end

  race "entrants", size: 1 do
    server { raise Pelton::Lab::Unavailable, "they only enter" }
    contender("one") {}
    contender("a peer", gem: "minitest") {}
    contender("on request", extra: true) {}
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

  race "orders", size: 1, rounds: 3 do
    %w[a b c].each do |name|
      contender(name) do |run|
        run.measure { File.write(ENV.fetch("PELTON_LAB_FAKE"), name, mode: "a") }
      end
    end
  end

  # A server that counts what it is told to: {hits: operations} or less.
  counting = Class.new do
    attr_reader :pid

    def initialize(step)
      @hits = 0
      @step = step
    end

    def counters
      {hits: @hits += @step}
    end

    def port = 7

    def version = "counting by #{@step}"
  end

  race "counted rightly", size: 5, rounds: 1, rehearsal: 5 do
    server { counting.new(5) }
    counts { |size| {hits: size} }
    contender("port 7") { |run| run.measure { run.expect("127.0.0.1:7", run.address) } }
  end

  race "counted wrongly", size: 5, rounds: 1, rehearsal: 5 do
    server { counting.new(4) }
    counts { |size| {hits: size} }
    contender("any") { |run| run.measure {} }
  end

  race "without its server", size: 1 do
    server { raise Pelton::Lab::Unavailable, "the server is not installed" }
    contender("any") { |run| run.measure {} }
    target 97, "any", of: "any", at_most: 1, metric: :real, unit: "s"
  end
end
