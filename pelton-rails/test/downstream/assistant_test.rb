# frozen_string_literal: true

require "fileutils"
require "net/http"
require_relative "../support/rails_program"
require_relative "../../../test/support/chromium"
require_relative "../../../test/support/running_program"

# examples/assistant, started as its README says, in a browser.
class AssistantTest < PeltonTest
  include RailsProgram
  include RunningPrograms

  self.deadline = 240

  EXAMPLE = File.join(ROOT, "examples/assistant")
  TEXT = 'document.querySelector(".assistant .text")?.innerText ?? ""'

  def setup
    skip "Solid Queue's fibers need Ruby 3.2" if RUBY_VERSION < "3.2"
    skip "bin/setup downstream brings Chromium" unless Chromium.path
    gems = RailsProgram.gems("8.1")
    needs_gems(gems)
    @folder = Dir.mktmpdir("assistant")
    FileUtils.cp_r("#{EXAMPLE}/.", @folder)
    @port = free_port
    @environment = gems.whole_environment.merge("RAILS_ENV" => "development", "PORT" => @port.to_s,
      "PRETEND_PAUSE" => "0.02", "LOG_LEVEL" => "warn")
    start_rails("db:prepare").wait
    @server = start_rails("server", "-u", "pelton")
    await_program(@server, timeout: 30) { answers? }
  end

  def teardown
    return unless @folder
    puts log unless passed? || skipped?
    @server&.stop
    FileUtils.rm_rf(@folder)
  end

  def test_a_reload_and_a_second_window_lose_nothing
    browsing(2) do |one, two|
      ask(one, "tell me 400 words")
      eventually("the first words") { one.evaluate(TEXT).split.size > 20 }
      url = one.evaluate("location.href")
      two.visit(url)
      one.visit(url)

      assert_operator one.evaluate(TEXT).split.size, :<, 400, "it was over before the reload"
      [one, two].each { |window| eventually("the end") { !stop_button?(window) } }
      first, second = [one, two].map { |window| window.evaluate(TEXT) }
      one.visit(url)

      assert_equal one.evaluate(TEXT), first
      assert_equal first, second
      assert_operator first.split.size, :>, 400
      assert_empty one.complaints
    end
  end

  def test_the_button_ends_the_request_to_the_model
    browsing(1) do |window|
      ask(window, "tell me 10000 words")
      eventually("the first words") { window.evaluate(TEXT).split.size > 20 }

      assert_equal "1", get("/pretend/running").body
      window.evaluate('document.querySelector(".stop").click()')
      eventually("the page's end") do
        window.evaluate(%(document.querySelector(".assistant").innerText.includes("Stopped.")))
      end
      eventually("the request's end") { get("/pretend/running").body == "0" }
      ask(window, "another one of 5 words")
      eventually("an answer to the next question") do
        window.evaluate('document.querySelectorAll(".assistant").length') == 2
      end
    end
  end

  def test_one_answer_at_a_time
    browsing(1) do |window|
      ask(window, "tell me 10000 words")
      eventually("the first words") { window.evaluate(TEXT).split.size > 5 }
      ask(window, "and now?")
      eventually("the refusal") do
        window.evaluate('document.querySelector(".alert")?.innerText ?? ""').include?("One answer at a time")
      end

      assert_equal 2, window.evaluate('document.querySelectorAll("article").length')
    end
  end

  private

  def browsing(count)
    browsers = Array.new(count) { Chromium.new }
    browsers.first.visit(address)
    yield(*browsers)
  ensure
    browsers&.each(&:close)
  end

  def ask(window, text)
    window.evaluate(
      %(document.querySelector("textarea").value = #{text.to_json}; document.querySelector(".ask button").click())
    )
  end

  def stop_button?(window) = window.evaluate('!!document.querySelector(".stop")')

  def address = "http://127.0.0.1:#{@port}/"

  def get(path) = Net::HTTP.get_response(URI.join(address, path))

  def answers?
    get("/").is_a?(Net::HTTPOK)
  rescue SystemCallError
    false
  end

  def log = File.file?("#{@folder}/test.log") ? File.read("#{@folder}/test.log").scrub : ""

  def start_rails(*command)
    RunningProgram.new(["ruby", "bin/rails", *command], @environment, folder: @folder, log: "#{@folder}/test.log",
      unsetenv_others: true)
  end
end
