# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/running_program"
require "json"
require "net/http"
require "tmpdir"

# Prometheus's own checker reads the metrics.
class PrometheusTest < PeltonTest
  include RunningPrograms

  self.deadline = 120

  APP = 'run ->(env) { (env["PATH_INFO"] == "/fail") ? raise("on purpose") : [200, {}, ["hello"]] }'

  def setup
    unless system("promtool", "--version", out: File::NULL, err: File::NULL)
      skip "promtool is not installed: apt-get install prometheus"
    end
  end

  def test_one_process
    served do
      get("/")
      get("/fail")

      assert_equal 2, value("pelton_http_requests_total", worker: 0)
      assert_equal [1, 1], %w[2xx 5xx].map { |code| value("pelton_http_responses_total", worker: 0, code: code) }
      assert_equal [1, 1],
        [200,
          500].map { |status|
            value("http_server_request_duration_seconds_count",
              worker: 0, http_request_method: "GET", http_response_status_code: status)
          }
      assert_equal 0, value("http_server_active_requests", worker: 0)
      check
    end
  end

  # Between two reports of a worker the metrics show its last report, which is up to a second old.
  def test_workers_counters_never_go_back
    served("-w", "2") do
      10.times { get("/") }
      eventually { sum("pelton_http_requests_total") == 10 }
      check
      victim = workers.first
      Process.kill("KILL", victim)
      eventually do
        assert_operator sum("pelton_http_requests_total"), :>=, 10
        value("pelton_worker_restarts_total", worker: 0) + value("pelton_worker_restarts_total", worker: 1) == 1 &&
          sum("pelton_worker_up") == 2
      end
      refute_includes workers, victim
      get("/")
      eventually { sum("pelton_http_requests_total") == 11 && sum("http_server_request_duration_seconds_count") == 11 }
      replace
      eventually { sum("pelton_http_requests_total") == 11 && sum("pelton_worker_up") == 2 }
      check
    end
  end

  private

  # Workers start slowly while other processes use the machine.
  def eventually(what = "the condition", timeout: 40) = super

  def served(*options)
    Dir.mktmpdir do |folder|
      File.write("#{folder}/config.ru", APP)
      @port, @control = free_port, free_port
      command = [*PELTON, "serve", "-q", "-b", "tcp://127.0.0.1:#{@port}",
        "--control", "tcp://127.0.0.1:#{@control}", *options]
      server = start_program(*command, folder: folder)
      @pid = server.pid
      await_program(server, timeout: 20) { answering }
      yield
    ensure
      server&.stop
    end
  end

  def answering
    options = samples.grep(/\Apelton_worker_up/)
    options.all? { |line| line.end_with?(" 1\n") }
  rescue Errno::ECONNREFUSED
    false
  end

  def get(path) = Net::HTTP.get_response("127.0.0.1", path, @port)

  def metrics = Net::HTTP.get("127.0.0.1", "/metrics", @control)

  def samples = metrics.lines.grep_v(/\A#/)

  def value(name, **labels)
    line = "#{name}{#{labels.map { |label, text| "#{label}=\"#{text}\"" }.join(",")}} "
    found = samples.select { |sample| sample.start_with?(line) }
    assert_equal 1, found.size, "#{line}is there #{found.size} times"
    found.first.split.last.to_i
  end

  def sum(name) = samples.select { |sample| sample.start_with?("#{name}{") }.sum { |sample| sample.split.last.to_i }

  def workers = JSON.parse(Net::HTTP.get("127.0.0.1", "/stats", @control))["workers"].map { |worker| worker["pid"] }

  def replace
    before = workers
    Process.kill("USR1", @pid)
    eventually do
      assert_equal 11, sum("pelton_http_requests_total")
      (workers & before).empty? && workers.size == 2
    end
  end

  def check
    assert_empty command_output("promtool", "check", "metrics", stdin_data: metrics)
  end
end
