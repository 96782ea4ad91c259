# frozen_string_literal: true

require "test_helper"
require "json"
require "rbconfig"

# The protocol of the script. The behaviour of contenders is in trial_test.rb.
class LabChildTest < PeltonTest
  def events(contender)
    reader, writer = IO.pipe
    job = {path: File.expand_path("fakes.rb", __dir__), experiment: "fakes", race: "characters", contender:, size: 3,
           host: "127.0.0.1", port: 1, rehearsal: true}
    pid = spawn({"PELTON_LAB_REPORT" => writer.fileno.to_s}, RbConfig.ruby, "-I", Children::LIBRARIES,
      File.join(ROOT, "pelton-lab/lib/pelton/lab/child.rb"), JSON.generate(job), writer => writer)
    writer.close
    reader.each_line.map { |line| JSON.parse(line, symbolize_names: true) }
  ensure
    reader.close
    Process.wait(pid)
    assert_predicate $?, :success?
  end

  def test_reports_the_start_and_the_measurement
    measuring, done = events("right")

    assert_equal "measuring", measuring[:event]
    assert_equal ["done", 3, {size: 3, rehearsal: true}], done.values_at(:event, :operations, :records)
    assert_equal %i[event operations real records rss_kb system user], done.keys.sort
  end

  def test_reports_a_wrong_answer
    assert_equal({event: "wrong", message: 'key1 should be "value1", is "value2"'}, events("wrong").last)
  end
end
