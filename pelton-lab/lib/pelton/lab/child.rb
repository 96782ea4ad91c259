# frozen_string_literal: true

# Runs one contender in a separate process, and reports to the lab by lines of JSON on the descriptor PELTON_LAB_REPORT
# (stdout when it is started by hand). Where there is a descriptor PELTON_LAB_CONTROL, the lab asks for each round by a
# line on it. usage: child.rb JOB, the JSON that Trial writes.

require "json"
require_relative "../lab"
require_relative "run"

job = JSON.parse(ARGV.fetch(0), symbolize_names: true)
ARGV.clear
report, control = [ENV.delete("PELTON_LAB_REPORT") || 1, ENV.delete("PELTON_LAB_CONTROL")].map do |number|
  number && IO.for_fd(Integer(number)).tap { |io| io.close_on_exec = true }
end
report.sync = true
say = ->(event, **details) { report.puts(JSON.generate({event:, **details})) }
next_round = lambda do
  say.call("ready")
  control.gets
end

experiments = Pelton::Lab.load(job[:path])
contender = experiments.find { |experiment| experiment.name == job[:experiment] }.find(job[:race]).find(job[:contender])
run = Pelton::Lab::Run.new(size: job[:size], host: job[:host], port: job[:port], server_core: job[:server_core],
  rehearsal: job[:rehearsal], on_start: -> { say.call("measuring") }, next_round: (next_round if control),
  on_round: ->(measurement) { say.call("measured", **measurement.parts) })

begin
  contender.work.call(run)
  if run.wrong_answer
    say.call("wrong", message: run.wrong_answer)
  elsif run.measurement.nil?
    say.call("error", message: "it measured nothing (run.measure { ... })")
  else
    say.call("done", **run.measurement.parts)
  end
rescue Pelton::Lab::Run::WrongAnswer => error
  say.call("wrong", message: error.message)
rescue LoadError => error
  say.call("unavailable", message: error.message)
rescue Exception => error # standard:disable Lint/RescueException -- the lab reports it, whatever it is
  say.call("error", message: "#{error.class}: #{error.message.lines.first&.chomp} (#{error.backtrace&.first})")
end
# Neither at_exit handlers nor finalizers of a contender's library may change or delay the measurement.
exit!(true)
