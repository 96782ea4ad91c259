# frozen_string_literal: true

require "test_helper"
require "pelton/lab/web/server"

class LabWebServerTest < PeltonTest
  # Answers "hello", after a request for /work with some CPU time and memory more, and has a child.
  SCRIPT = <<~'RUBY'
    require "socket"
    server = TCPServer.new("127.0.0.1", ARGV[0])
    fork { $0 = "pelton-lab-child"; sleep }
    while (socket = server.accept)
      path = socket.gets&.split&.at(1) or next
      nil until socket.gets == "\r\n"
      if path == "/work"
        hold = "x" * 20_000_000
        finish = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) + 0.1
        nil while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < finish
      end
      socket.write("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello")
      socket.close
    end
  RUBY

  def serve(script = SCRIPT, **options, &block)
    Pelton::Lab::WebServer.serve(->(port, _) { [RbConfig.ruby, "--disable=gems", "-e", script, port.to_s] },
      **options, &block)
  end

  def test_serves_on_its_port
    serve do |server|
      assert_equal "hello", server.get.body
      assert_equal "http://127.0.0.1:#{server.port}/x", server.url("/x")
    end
  end

  # edge_servers_test.rb asks servers with TLS.
  def test_the_address_of_one_with_tls
    serve(name: "edge.example") do |server|
      assert_equal "https://127.0.0.1:#{server.port}/x", server.url("/x")
      assert_equal "https://edge.example:#{server.port}/", server.url(host: "edge.example")
    end
  end

  def test_waits_until_what_is_behind_it_answers
    script = SCRIPT.sub("server =", "codes = [502, 502]; server =").sub('"HTTP/1.1 200 OK',
      '"HTTP/1.1 " + (codes.shift || 200).to_s + " OK')
    serve(script) do |server|
      server.await_answer("/", 20)

      assert_equal "200", server.get.code
    end
  end

  def test_one_that_never_answers_rightly
    serve(SCRIPT.sub("200 OK", "502 Bad Gateway")) do |server|
      error = assert_raises(RuntimeError) { server.await_answer("/", 0) }

      assert_match(/did not answer: 502/, error.message)
    end
  end

  def test_usage
    serve do |server|
      server.forget_peak
      before = server.usage
      server.get("/work")
      after = server.usage

      assert_operator after.user + after.system - before.user - before.system, :>=, 0.05
      assert_operator after.cpu - before.cpu, :>=, 0.05
      assert_operator after.peak_kb - before.rss_kb, :>=, 15_000
    end
  end

  def test_cost_of_a_block
    serve do |server|
      cost = server.cost { server.get("/work") && Struct.new(:requests, :seconds).new(4, 2.0) }

      assert_equal 4, cost.operations
      assert_equal 2.0, cost.real
      assert_equal 500_000, cost.us_per_operation
      assert_operator cost.cpu, :>=, 0.05
      assert_operator cost[:grown_mb], :>=, 15
    end
  end

  def test_growth_counts_from_the_first_measurement
    serve do |server|
      done = Struct.new(:requests, :seconds).new(1, 1.0)
      first, second = Array.new(2) { |n|
        server.cost {
          server.get("/work") if n.zero?
          done
        }
      }

      assert_operator first[:grown_mb], :>=, 15
      assert_operator second[:grown_mb], :>=, 15
    end
  end

  def test_its_children_count_and_end_with_it
    pids = serve { |server| eventually("two processes") { server.send(:tree) if server.processes == 2 } }

    pids.each { |pid| eventually("the end of #{pid}") { ended?(pid) } }
  end

  def test_the_last_line_of_a_server_that_does_not_start_is_reported
    error = assert_raises(RuntimeError) { serve('abort "no such thing"') { flunk } }

    assert_match(/did not start: no such thing/, error.message)
  end

  def test_one_that_does_not_listen_is_ended_at_the_deadline
    assert_raises(RuntimeError) { serve("sleep", deadline: 0.1) { flunk } }
  end

  def test_its_environment_and_its_folder
    script =
      SCRIPT.sub('"hello"', '"x"').sub("require",
        'File.write(ENV.fetch("PELTON_LAB_FAKE"), Dir.pwd + ENV["RACK_ENV"]); require')
    Dir.mktmpdir do |folder|
      serve(script, environment: {"PELTON_LAB_FAKE" => file = File.join(folder, "said")}) {}

      assert_match(%r{/pelton-lab[^/]*production\z}, File.read(file))
    end
  end
end
