# frozen_string_literal: true

require_relative "../support/http/peer"
require_relative "../support/running_program"
require "rack-timeout"

Rack::Timeout::Logger.disable

# The gem rack-timeout, whose middleware is in the application.
class IntegrationsRackTimeoutTest < PeltonTest
  include HttpPeer
  include RunningPrograms

  LIMIT = 0.05

  def limiting(app) = Rack::Timeout.new(app, service_timeout: LIMIT, wait_timeout: false)

  def statuses(paths)
    tasks = paths.map { |path| Pelton.spawn { peer.get(path).status } }
    tasks.map(&:await)
  end

  def test_a_slow_request_fails_alone
    app = lambda do |env|
      (env["PATH_INFO"] == "/slow") ? sleep : sleep(LIMIT / 10)
      HELLO.call(env)
    end
    serving(limiting(app)) do
      results = 3.times.flat_map { statuses(["/slow", *["/fast"] * 6]) }

      assert_equal [500, *[200] * 6] * 3, results
    end

    assert_equal [Rack::Timeout::RequestTimeoutError] * 3, reported.map(&:class)
    assert_match(/\ARequest ran for longer than 50ms/, reported.first.message)
  end

  # The states of requests as rack-timeout tells them meanwhile.
  def observing
    states = []
    Rack::Timeout.register_state_change_observer(:test) { |env| states << env[Rack::Timeout::ENV_INFO_KEY].state }
    yield states
  ensure
    Rack::Timeout.unregister_state_change_observer(:test)
  end

  def test_the_application_may_see_the_exception_and_the_state
    seen = nil
    app = lambda do |_env|
      sleep
    rescue Rack::Timeout::RequestTimeoutException => error
      seen = error
      [503, {}, ["late"]]
    end
    observing do |states|
      serving(limiting(app)) { assert_equal [503, "late"], peer.get("/").to_a.values_at(0, 2) }

      assert_kind_of Hash, seen.env
      assert_equal %i[timed_out completed], states.last(2)
    end
  end

  # Its fiber serves other requests later.
  def test_a_request_that_ends_without_waiting_again_leaves_no_exception
    observing do |states|
      app = lambda do |env|
        if env["PATH_INFO"] == "/nested" # what a fiber waits for within another one cannot be interrupted
          Fiber.new { sleep 0.001 until states.include?(:timed_out) }.resume
        else
          sleep 0.001
        end
        HELLO.call(env)
      end
      serving(limiting(app)) do
        assert_equal 200, peer.get("/nested").status
        assert_equal [200] * 5, statuses(["/"] * 5)
      end
    end
  end

  def test_outside_of_a_reactor_it_is_rack_timeout_s_own
    app = limiting(->(_env) { sleep })
    Pelton::HTTP::Server.new(app)

    assert_raises(Rack::Timeout::RequestTimeoutError) { app.call({}) }
  end

  def test_pelton_serve
    Dir.mktmpdir do |folder|
      File.write("#{folder}/config.ru", <<~RUBY)
        require "rack-timeout"
        Rack::Timeout::Logger.disable
        use Rack::Timeout, service_timeout: #{LIMIT}
        run ->(env) { sleep if env["PATH_INFO"] == "/slow"; [200, {}, ["fast"]] }
      RUBY
      server = start_program(*PELTON, "serve", "-b", "tcp://127.0.0.1:0", folder: folder)
      @port = await_program(server) { server.port }
      @peers = []

      assert_equal([500, 200] * 3, Pelton.run { statuses(%w[/slow /fast] * 3) })
      assert_equal 200, Pelton.run { peer.get("/fast").status }
    ensure
      server&.stop
    end
  end
end
