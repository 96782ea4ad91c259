# frozen_string_literal: true

require "pelton/test"
require_relative "../../../test/support/captured_log"
require_relative "../support/requests"
require_relative "../support/template_files"

class WebReloadingTest < PeltonTest
  include CapturedLog
  include Pelton::Test
  include WebRequests
  include TemplateFiles

  class << self
    attr_accessor :application
  end

  def teardown
    Object.__send__(:remove_const, :WebReloadingController) if Object.const_defined?(:WebReloadingController)
    super
  end

  # Files that are written again change, though the clock may not have moved.
  def write(texts)
    super
    @age = (@age || 0) + 1
    texts.each_key { |path| File.utime(Time.now, Time.now + @age, File.join(@folder, path)) }
  end

  def controller(text)
    "class WebReloadingController < Pelton::Web::Controller\n  def show = render(text: #{text.inspect})\n" \
    "  def page = nil\nend"
  end

  def application
    write("app/controllers/web_reloading_controller.rb" => controller("one"),
      "app/views/web_reloading/page.html.erb" => "page one",
      "config/routes.rb" => "WebReloadingTest.application.routes { get('/', to: 'web_reloading#show'); get('/page', " \
        "to: 'web_reloading#page') }")
    folder = @folder
    self.class.application = Class.new(Pelton::Web::Application) do
      settings.root = folder
      settings.environment = "development"
      settings.raise_errors = true
    end
  end

  def test_code_templates_and_routes_are_loaded_again
    app = application

    assert_equal "one", request(app, "GET", "/").body
    assert_equal "page one", request(app, "GET", "/page").body
    write("app/controllers/web_reloading_controller.rb" => controller("two"),
      "app/views/web_reloading/page.html.erb" => "page two")

    assert_equal "two", request(app, "GET", "/").body
    assert_equal "page two", request(app, "GET", "/page").body
    write("config/routes.rb" => "WebReloadingTest.application.routes { get('/new', to: 'web_reloading#show') }")

    assert_equal 404, request(app, "GET", "/").status
    assert_equal 200, request(app, "GET", "/new").status
  end

  def test_a_mistake_is_raised_until_it_is_corrected
    app = application
    request(app, "GET", "/")
    write("app/controllers/web_reloading_controller.rb" => "class WebReloadingController <")

    2.times { assert_raises(SyntaxError) { request(app, "GET", "/") } }
    write("app/controllers/web_reloading_controller.rb" => controller("corrected"))

    assert_equal "corrected", request(app, "GET", "/").body
  end

  # A Loading that says when it is asked to load again.
  class Loader
    attr_reader :log
    attr_accessor :changed
    alias_method :changed?, :changed

    def initialize = @log = []

    def reload
      @changed = false
      @log << :reload
    end
  end

  def test_it_waits_for_the_requests_in_progress_and_new_ones_wait_for_it
    loader = Loader.new
    gate = Thread::Queue.new
    app = Pelton::Web::Reloading.new(loader) do
      ->(env) { env[:wait] ? gate.pop.tap { loader.log << :old } : loader.log << :new }
    end
    in_reactor do
      old = Pelton.spawn { app.call({wait: true}) }
      turn 2
      loader.changed = true
      later = Array.new(2) { Pelton.spawn { app.call({}) } }
      turn 3

      assert_empty loader.log
      gate << true
      [old, *later].each(&:await)

      assert_equal [:old, :reload, :new, :new], loader.log
    end
  end

  def test_a_request_that_takes_too_long_is_not_waited_for
    loader = Loader.new
    app = Pelton::Web::Reloading.new(loader, patience: 0.01) { ->(env) { sleep if env[:wait] } }
    in_reactor(leftovers: true) do
      Pelton.spawn { app.call({wait: true}) }
      turn 2
      loader.changed = true
      app.call({})
    end

    assert_equal [:reload], loader.log
    assert_includes log, "1 request(s) still run after 0.01 s"
  end
end
