# frozen_string_literal: true

require "test_helper"
require "stringio"
require "tmpdir"
require "pelton/web/command"

class WebCommandTest < PeltonTest
  CONFIG = <<~RUBY
    class WebCommandApplication%<number>d < Pelton::Web::Application
      routes do
        root { "home" }
        get "/posts/:id(.:format)", to: "web_command_test/posts#show", as: :post
        mount ->(env) { [200, {}, []] }, at: "/api"
      end
    end
    run WebCommandApplication%<number>d
  RUBY

  class PostsController < Pelton::Web::Controller
    before_action :check
    def show = head(200)

    private

    def check = nil
  end

  def test_routes
    status, out, = run_command("routes")

    assert_equal 0, status
    assert_equal <<~TEXT, out
      GET    /                     block at config.ru:3        root_path
      GET    /posts/:id(.:format)  web_command_test/posts#show  post_path
      mount  /api                  Proc
    TEXT
  end

  def test_code
    _, out, = run_command("routes", "--code")

    assert_match(/case segments\[1\]\n\s+when "posts"/, out)
    assert_match(/def _run_show.*check\n\s+unless @response&.answered\?/m, out)
  end

  def test_help_and_mistakes
    assert_equal 0, run_command("--help").first
    assert_equal [2, 2, 2, 2],
      [[], ["nothing"], ["routes", "x"], ["--unknown"]].map { |arguments| run_command(*arguments).first }
    assert_match(/there is no nothing.ru/, run_command("routes", "--config", "nothing.ru").last)
    assert_equal 1, run_command("routes", config: "run ->(env) {}").first
    assert_equal 1,
      run_command("routes",
        config: "class WebCommandWrong < Pelton::Web::Application; routes { get '/', to: 'x#y' }; end\n" \
          "run WebCommandWrong").first
  end

  private

  def run_command(*arguments, config: format(CONFIG, number: @number = (@number || 0) + 1))
    Dir.mktmpdir do |folder|
      File.write("#{folder}/config.ru", config.gsub("WebCommandApplication", "WebCommandApplication#{name.hash.abs}"))
      Dir.chdir(folder) do
        out, error = StringIO.new, StringIO.new
        [Pelton::Web::Command.run(arguments, out: out, error: error),
          out.string.gsub("block at config.ru:3 ", "block at config.ru:3"), error.string]
      end
    end
  end
end
