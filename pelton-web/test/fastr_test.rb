# frozen_string_literal: true

require "pelton/web/fastr"
require_relative "support/controllers"

class WebFastrTest < PeltonTest
  include WebControllers

  # Stands for a model: `all` gives its rows to a block, as a query that was sent.
  class User
    attr_reader :username

    def initialize(username) = @username = username

    def self.all(limit:, &block)
      users = %w[Ann Bob Cid Dan Eva Fay].first(limit).map { |name| new(name) }
      Pelton.running? ? Pelton.add_timer(0.01) { block.call(users) } : block.call(users)
    end
  end

  # As the article prints it.
  class MainController < Fastr::Controller
    def index
      defer_response(200, {"Content-Type" => "text/plain"}) do |response|
        User.all(limit: 5) do |users|
          users.each do |user|
            response.send_data("#{user.username}\n")
          end
          response.succeed
        end
      end
    end
  end

  class TasksController < Fastr::Controller
    LOG = []

    def show
      defer_response(200, "Content-Type" => "text/plain") do |response|
        main = Thread.current
        response.task(-> { (Thread.current == main) ? "same" : "other" }, lambda { |value|
          response.send_data("#{value} #{Thread.current == main}")
          response.finish
        })
      end
    end

    def broken
      defer_response(200, "Content-Type" => "text/plain") do |response|
        response.send_data("a")
        response.task(-> { raise "on purpose" }, ->(_) { response.succeed })
      end
    end

    def without_callback
      defer_response(200, "Content-Type" => "text/plain") do |response|
        done = []
        response.closed { LOG << done }
        response.task(-> { done << 1 })
        response.task(-> { sleep 0.001 while done.empty? }, ->(_) { response.succeed })
      end
    end
  end

  class FormsController < Fastr::Controller
    before_filter :note
    def show = render(text: [@noted, get_params["a"], post_params["b"]].join(" "))

    private

    def note = @noted = "noted"
  end

  def test_the_article_s_controller
    with_server(application) do |url|
      response = Pelton::HTTP.get(url)

      assert_equal 200, response.status
      assert_equal "text/plain", response["content-type"]
      assert_equal "Ann\nBob\nCid\nDan\nEva\n", response.body
    end
    assert_equal "Ann\nBob\nCid\nDan\nEva\n", request(application, "GET", "/").body
  end

  def test_a_task_runs_on_another_thread_and_its_callback_on_the_loop
    with_server(application) { |url| assert_equal "other true", Pelton::HTTP.get("#{url}/task").body }
    assert_equal "same true", request(application, "GET", "/task").body
  end

  def test_a_task_without_a_callback
    with_server(application) { |url| assert_equal "", Pelton::HTTP.get("#{url}/quiet").body }
    assert_equal [[1]], TasksController::LOG
  ensure
    TasksController::LOG.clear
  end

  def test_a_task_that_fails_breaks_the_response_off
    errors = []
    before = Pelton.on_error { |error| errors << error.message }
    with_server(application) { |url| assert_raises(Pelton::Error) { Pelton::HTTP.get("#{url}/broken").body } }

    assert_equal ["on purpose"], errors
  ensure
    Pelton.on_error(&before)
  end

  def test_filters_and_parameters
    assert_equal "noted 1 2", request(application, "POST", "/?a=1", params: {"b" => "2"}).body
  end

  private

  def application
    Class.new(Pelton::Web::Application) do
      routes do
        get "/", to: "web_fastr_test/main#index"
        post "/", to: "web_fastr_test/forms#show"
        get "/task", to: "web_fastr_test/tasks#show"
        get "/quiet", to: "web_fastr_test/tasks#without_callback"
        get "/broken", to: "web_fastr_test/tasks#broken"
      end
    end
  end
end
