# frozen_string_literal: true

require_relative "../support/telemetry_program"

# Sentry's middleware keeps the scope of a request (user, tags, breadcrumbs, transaction) by thread, unless it is told
# otherwise.
class RailsSentryTest < PeltonTest
  include TelemetryProgram

  APPLICATION = <<~RUBY
    require "sentry-ruby"
    EVENTS = []
    Sentry.init do |config|
      config.dsn = "http://key@127.0.0.1:9/1"
      config.transport.transport_class = Sentry::DummyTransport
      config.background_worker_threads = 0
      config.traces_sample_rate = 1.0
      config.breadcrumbs_logger = []
      config.before_send = ->(event, _hint) { (EVENTS << event) && nil }
    end
    APP = Rack::Builder.app do
      use Sentry::Rack::CaptureExceptions
      run(lambda do |env|
        id = env["PATH_INFO"].delete("/").to_i
        Sentry.set_user(id: id)
        sleep(rand / 100)
        Sentry.set_tags(number: id)
        Sentry.add_breadcrumb(Sentry::Breadcrumb.new(message: "first \#{id}"))
        Sentry.with_scope do |scope|
          scope.set_extras(number: id)
          sleep(rand / 100)
          Sentry.add_breadcrumb(Sentry::Breadcrumb.new(message: "second \#{id}"))
          Sentry.capture_message(id.to_s)
        end
        sleep(rand / 100)
        raise "on purpose" if id % 7 == 0
        [200, {}, body(id)]
      end)
    end
    serve(APP)
    def said(event) = event.message.to_s[/\\A\\d+\\z/]&.to_i || event.request&.url.to_s[/\\d+\\z/].to_i
    wrong = EVENTS.reject do |event|
      id = said(event)
      crumbs = event.breadcrumbs.map(&:message)
      event.user == {id: id} && event.tags[:number] == id && crumbs.first == "first \#{id}" && crumbs.uniq == crumbs &&
        crumbs.all? { |one| one.end_with?(" \#{id}") } &&
        event.request&.url.to_s.end_with?("/\#{id}")
    end
    puts "\#{EVENTS.size} events, \#{wrong.size} with the data of another request"
  RUBY

  def test_the_scope_of_a_request_is_its_own
    assert_equal "342 events, 0 with the data of another request\n", telemetry_output(APPLICATION, databases: false)
  end
end
