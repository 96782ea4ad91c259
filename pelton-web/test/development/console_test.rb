# frozen_string_literal: true

require_relative "../support/template_files"

class WebConsoleTest < PeltonTest
  include TemplateFiles

  # irb reads the lines from standard input, inside a reactor.
  def test_lines_are_evaluated_with_the_application
    write("app.rb" => <<~RUBY)
      require "pelton/web"
      require "pelton/web/development/console"

      class Shop < Pelton::Web::Application
        settings.root = __dir__
        routes { get("/") { sleep(0.001) && "home" } }
      end
      Shop.boot!
      Pelton::Web::Console.new(Shop).start
    RUBY
    output = ruby_output(File.read(File.join(@folder, "app.rb")).sub("__dir__", @folder.inspect), stdin: "p [app, Pelton.running?, get('/').body, reload!]\n", gems: true)

    assert_includes output, '[Shop, true, "home", false]'
  end
end
