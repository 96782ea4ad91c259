# frozen_string_literal: true

require "pelton/test"
require_relative "../support/requests"

class WebSlowPageTest < PeltonTest
  include Pelton::Test
  include WebRequests

  HERE = {"HTTP_HOST" => "localhost", "REMOTE_ADDR" => "127.0.0.1"}.freeze

  def setup
    @logger = Pelton.logger
    Pelton.logger = nil # the watchdog's reports
    @before = Pelton.on_stall
    Pelton.on_stall(&@before)
    forget
    super
  end

  def teardown
    super
    forget
    Pelton.on_stall(&@before)
    Pelton.logger = @logger
    Pelton.watchdog = Pelton::Watchdog::DEFAULT
  end

  def forget = Pelton::Web::SlowPage.instance_variable_set(:@stalls, nil)

  def application(environment = "development")
    Class.new(Pelton::Web::Application) do
      settings.root = __dir__
      settings.environment = environment
      settings.secrets = ["s" * 64]
      routes { get("/") { "home" } }
    end
  end

  def test_it_shows_what_held_the_loop
    seen = []
    Pelton.on_stall { |stall| seen << stall }
    app = application

    page = request(app, "GET", "/pelton/slow", **HERE)
    assert_equal 200, page.status
    assert_includes page.body, "Nothing has held it."
    in_reactor do
      Pelton.logger = @logger
      Pelton.watchdog = 0.02
      stall(0.1)
      turn 3
    end
    page = request(app, "GET", "/pelton/slow", **HERE).body

    assert_includes page, "lib/pelton/test.rb"
    assert_includes page, "1 ×"
    assert_equal 1, seen.size
  end

  def test_only_for_this_machine_and_only_in_development
    assert_equal 404, request(application, "GET", "/pelton/slow", "REMOTE_ADDR" => "10.0.0.1").status
    assert_equal 404, request(application("production"), "GET", "/pelton/slow", **HERE).status
    assert_equal "home", request(application, "GET", "/", **HERE).body
  end

  def test_a_bounded_number_of_reports_is_kept
    Pelton.on_stall { |_| }
    kept = Pelton::Web::SlowPage.stalls
    (Pelton::Web::SlowPage::KEPT + 5).times { |number| Pelton.report_stall(number, "a.rb:1") }

    assert_equal Pelton::Web::SlowPage::KEPT, kept.size
    assert_equal 5, kept.first.last.seconds
  end
end
