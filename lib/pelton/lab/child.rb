# frozen_string_literal: true

# Runs one contender once, in a process of its own, and tells the lab by lines of JSON on the descriptor that
# PELTON_LAB_REPORT names; by hand, on stdout. usage: child.rb JOB, the JSON that Trial writes.

require "json"
require_relative "../lab"
require_relative "run"

job = JSON.parse(ARGV.fetch(0), symbolize_names: true)
ARGV.clear
report = IO.for_fd(Integer(ENV.delete("PELTON_LAB_REPORT") || 1))
report.sync = true
report.close_on_exec = true
say = ->(event, **details) { report.puts(JSON.generate({event:, **details})) }

experiments = Pelton::Lab.load(job[:path])
contender = experiments.find { |experiment| experiment.name == job[:experiment] }.find(job[:race]).find(job[:contender])
run = Pelton::Lab::Run.new(size: job[:size], host: job[:host], port: job[:port], server_core: job[:server_core],
  rehearsal: job[:rehearsal], on_start: -> { say.call("measuring") })

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
rescue Exception => error # standard:disable Lint/RescueException -- whatever it was, the lab is to say it
  say.call("error", message: "#{error.class}: #{error.message.lines.first&.chomp} (#{error.backtrace&.first})")
end
# Neither at_exit handlers nor finalizers of a contender's library may change or delay what was measured.
exit!(true)
