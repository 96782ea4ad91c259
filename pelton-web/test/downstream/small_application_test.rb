# frozen_string_literal: true

require "shellwords"
require_relative "../support/web_program"
require_relative "../support/generated_application"
require_relative "../../../test/support/chromium"

# The guide "A small application": its commands and the files of examples/tracker make an application, whose tests pass,
# and which serves.
class WebSmallApplicationTest < PeltonTest
  include WebProgram
  include GeneratedApplication

  self.deadline = 300

  GUIDE = File.read(File.join(ROOT, "docs/start/small_application.md"), encoding: "UTF-8").freeze
  FILES = File.join(ROOT, "pelton-web/examples/tracker")
  BLOCK = /^```ruby\n(.*?)^```/m
  PASSWORD = "correct horse battery"
  private_constant :GUIDE, :FILES, :BLOCK

  # The gems of gemfiles/web.rb, a browser among them.
  def environment = super.merge(GEMS.environment.slice("BUNDLE_PATH"))

  def commands = GUIDE[/\n\n( {4}pelton new.*?)\n\n/m, 1].lines(chomp: true).map(&:strip)

  def build
    first, second, *rest = commands

    assert_equal "pelton new tracker --bare", first
    assert_equal "cd tracker", second
    generate("tracker", bare: true)
    File.write(File.join(root, "Gemfile"), "\ngem \"capybara\"\ngem \"cuprite\"\ngem \"nokogiri\", \"~> 1.16.0\"\n" \
      "eval_gemfile #{File.join(ROOT, "gemfiles/ruby_gems.rb").inspect}\n", mode: "a")
    migrate = rest.pop
    rest.each { |command| lines_of("sh", "-c", (command == "bundle install") ? "#{command} --local" : command) }
    write_files
    assert_style # before a schema is written, which is the database's
    lines_of("sh", "-c", migrate)
  end

  def write_files = FileUtils.cp_r("#{FILES}/.", root)

  # The first line of a file names it.
  def test_the_guide_shows_the_files_as_they_are
    shown = GUIDE.scan(BLOCK).flatten

    refute_empty shown
    shown.each { |text| assert_equal File.read(File.join(FILES, text[/\A# (\S+)/, 1])), text }
  end

  def test_the_application_of_the_guide
    needs_gems(GEMS)
    build

    assert_match(/\D0 failures, 0 errors, 0 skips/, lines_of("bundle", "exec", "rake"))
    if Chromium.path
      assert_match(/^1 runs, .* 0 failures, 0 errors, 0 skips/, lines_of("bundle", "exec", "rake", "test:browser"))
    end
    serving { |url| use(url) }
  end

  private

  def use(url)
    ann = Browser.new(url)

    assert_equal 303, ann.post("/sign_up", {"user[email]" => "ann@example.com", "user[password]" => PASSWORD})
    assert_equal 422, ann.post("/issues", {"issue[title]" => ""})
    assert_equal 303, ann.post("/issues", {"issue[title]" => "It breaks"})
    assert_equal 200, ann.follow
    Pelton.run { see_a_comment_come(url, ann) }
    assert_equal 404, ann.get("/issues/77")
    assert_equal 401, ann.get("/api/issues", headers: {"accept" => "application/json"})
    assert_equal "application/problem+json", ann.response["content-type"]
  end

  def see_a_comment_come(url, ann)
    live = Pelton::HTTP.get("#{url}issues/1/live", stream: true)
    events = Thread::Queue.new
    reader = Pelton.spawn { live.each { |part| events << part } }

    assert_equal ": connected\n\n", events.pop
    assert_equal 303, ann.post("/issues/1/comments", {"comment[text]" => "Here, too."})
    assert_includes events.pop, "Here, too."
    reader.cancel
  end
end
