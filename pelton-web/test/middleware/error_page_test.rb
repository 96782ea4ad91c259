# frozen_string_literal: true

require "pelton/test"
require_relative "../support/requests"
require_relative "../support/template_files"

class WebErrorPageTest < PeltonTest
  include Pelton::Test
  include WebRequests
  include TemplateFiles

  HERE = {"HTTP_HOST" => "localhost", "REMOTE_ADDR" => "127.0.0.1", "HTTP_ACCEPT" => "text/html"}.freeze

  def setup
    super
    @errors = []
    @before = Pelton.on_error { |error| @errors << error }
  end

  def teardown
    Pelton.on_error(&@before)
    super
  end

  def application(environment = "development", &block)
    folder = @folder
    Class.new(Pelton::Web::Application) do
      settings.root = folder
      settings.environment = environment
      settings.secrets = ["s" * 64]
      settings.raise_errors = false
      settings.hosts = nil
      routes { get("/fail/:id", &block) }
    end
  end

  # A program whose file is under the root.
  def failing(environment = "development")
    write("fail.rb" => "->(_) do\n  # before\n  raise KeyError, 'no <b>key</b>'\nend\n")
    program = eval(File.read(file = File.join(@folder, "fail.rb")), nil, file) # standard:disable Security/Eval
    application(environment) { program.call(self) }
  end

  def test_in_development_it_shows_the_source_the_parameters_and_the_route
    page = request(failing, "GET", "/fail/7?name=%3Ci%3E&password=hunter2&user[api_token]=hunter2", **HERE)

    assert_equal 500, page.status
    assert_equal "no-store", page["cache-control"]
    ["KeyError: no &lt;b&gt;key&lt;/b&gt;", "fail.rb:3", "<mark>   3    raise KeyError", "# before", "/fail/:id",
      "<th>name</th><td>&lt;i&gt;", "[filtered]"].each { |part| assert_includes page.body, part }
    %w[<b>key <i> hunter2].each { |part| refute_includes page.body, part }
    assert_kind_of KeyError, @errors.first
  end

  def test_a_service_that_does_not_answer_is_503
    {Pelton::ConnectionError => 503, Class.new(Pelton::TimeoutError) => 503, Pelton::OverloadError => 503,
     Pelton::Error => 500, IOError => 500}.each do |type, status|
      page = request(application("production") { raise type, "db.internal" }, "GET", "/fail/7")

      assert_equal status, page.status
      assert_equal((status == 503) ? "1" : nil, page["retry-after"])
      refute_includes page.body, "db.internal"
      assert_kind_of type, @errors.last
    end
  end

  def test_in_development_it_shows_what_waits
    page = nil
    Pelton.run do
      waiting = Pelton.spawn(name: "the <waiter>") { sleep }
      turn
      page = request(failing, "GET", "/fail/7", **HERE)
      waiting.cancel
    end

    assert_includes page.body, "Task the &lt;waiter&gt;, waiting"
    assert_includes page.body, "error_page_test.rb"
  end

  def test_in_production_and_for_other_machines_it_tells_nothing
    [[failing("production"), HERE], [failing, HERE.merge("REMOTE_ADDR" => "10.0.0.1")],
      [failing, HERE.merge("HTTP_HOST" => "evil.example")]].each do |app, env|
      page = request(app, "GET", "/fail/7?name=shown", **env)

      assert_equal 500, page.status
      assert_equal true, page.body.include?("Internal Server Error")
      %w[KeyError key fail.rb shown /fail].each { |part| refute_includes page.body, part }
    end
    assert_equal 3, @errors.size
  end

  def test_json
    json = ->(app) { JSON.parse(request(app, "GET", "/fail/7", **HERE, "HTTP_ACCEPT" => "application/json").body) }

    assert_equal({"title" => "Internal Server Error", "status" => 500}, json.call(failing("production")))
    assert_equal "KeyError: no <b>key</b>", json.call(failing)["detail"]
  end

  def test_errors_that_are_no_standard_errors
    [NotImplementedError, SystemStackError, SyntaxError, LoadError].each do |type|
      assert_equal 500, request(application("production") { raise type, "x" }, "GET", "/fail/7", **HERE).status
    end
    assert_raises(Pelton::Cancelled) { request(application { raise Pelton::Cancelled }, "GET", "/fail/7", **HERE) }
  end

  def test_a_mistake_in_a_template_shows_the_template
    write("app/views/shared/bad.html.erb" => "one\ntwo\n<%= nothing_like_that %>\n")
    page = request(application { render "shared/bad" }, "GET", "/fail/7", **HERE)

    assert_includes page.body, "app/views/shared/bad.html.erb:3"
    assert_includes page.body, "<mark>   3  &lt;%= nothing_like_that %&gt;"
    write("app/views/shared/bad.html.erb" => "one\n<% ) %>\n")
    page = request(application { render "shared/bad" }, "GET", "/fail/7", **HERE)

    assert_includes page.body, "app/views/shared/bad.html.erb:2"
  end

  def named(name, base = StandardError) = Class.new(base) { define_singleton_method(:name) { name } }

  # By name, since neither library need be loaded.
  def test_locks_and_busy_pools_of_sequel_and_active_record_are_503
    %w[
      Sequel::DatabaseConnectionError Sequel::DatabaseDisconnectError Sequel::PoolTimeout Sequel::DatabaseLockTimeout
      Sequel::SerializationFailure
      ActiveRecord::ConnectionNotEstablished ActiveRecord::ConnectionFailed ActiveRecord::ConnectionTimeoutError
      ActiveRecord::LockWaitTimeout
      ActiveRecord::StatementTimeout ActiveRecord::TransactionRollbackError SQLite3::BusyException Extralite::BusyError
    ].each do |name|
      error = named(name)
      page = request(application("production") { raise error, "x" }, "GET", "/fail/7")

      assert_equal 503, page.status, name
      assert_equal "1", page["retry-after"], name
    end
  end

  def test_what_a_library_s_error_says_in_its_cause_is_503_and_other_errors_causes_are_not
    busy = named("SQLite3::BusyException")
    {named("Sequel::DatabaseError") => 503, named("ActiveRecord::StatementInvalid") => 503,
     KeyError => 500}.each do |type, status|
      failing = application("production") do
        raise busy, "locked"
      rescue busy
        raise type, "in SQL"
      end

      assert_equal status, request(failing, "GET", "/fail/7").status, type.name
    end
    without = named("Sequel::DatabaseError")
    assert_equal 500, request(application("production") { raise without, "x" }, "GET", "/fail/7").status
  end

  def test_parameters_of_any_size_and_kind
    page =
      request(failing, "GET",
        "/fail/7?a=#{"x" * 10_000}&b=%FF%00&#{Array.new(300) { |index| "n#{index}=1" }.join("&")}", **HERE)

    assert_equal 500, page.status
    assert_operator page.body.size, :<, 60_000
    assert_predicate page.body.dup.force_encoding("UTF-8"), :valid_encoding?
    assert_includes request(failing, "GET", "/fail/7?a=1&a[b]=2", **HERE).body, "(unreadable)"
  end

  def test_head
    page = request(failing, "HEAD", "/fail/7", **HERE)

    assert_equal 500, page.status
    assert_equal "", page.body
  end
end
