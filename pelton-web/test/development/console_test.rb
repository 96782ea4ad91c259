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
    output = ruby_output(File.read(File.join(@folder, "app.rb")).sub("__dir__", @folder.inspect),
      stdin: "p [app, Pelton.running?, get('/').body, reload!]\n", gems: true)

    assert_includes output, '[Shop, true, "home", false]'
  end

  # From Ruby 4.0 on it is a gem.
  def test_without_irb
    write("irb.rb" => "raise LoadError.new('cannot load such file -- irb').tap { |error| def error.path = 'irb' }")
    program =
      "require 'pelton/web'; begin; require 'pelton/web/development/console'; rescue LoadError => error; puts " \
      "error.message; end"

    assert_match(/\Athe console needs irb, .*: add gem "irb" to the Gemfile\n\z/,
      ruby_output(program, options: ["-I#{@folder}"], gems: true))
  end
end
