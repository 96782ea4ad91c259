# frozen_string_literal: true

require "test_helper"
require "stringio"
require "tmpdir"
require "pelton/web/generators"

# For the tests of the generators: a folder with the least of an application, and what a command has said.
module Generating
  Generators = Pelton::Web::Generators

  CONFIGURATION = <<~RUBY
    require "pelton/web"
    require "pelton/sequel"

    class Shop < Pelton::Web::Application
      settings.root = File.expand_path("..", __dir__)
    end
  RUBY
  ROUTES = "Shop.routes do\n  root to: \"home#index\"\nend\n"

  def setup
    super
    @root = Dir.mktmpdir
    put("config/application.rb", CONFIGURATION)
    put("config/routes.rb", ROUTES)
  end

  def teardown
    FileUtils.rm_rf(@root)
    super
  end

  def put(path, text)
    FileUtils.mkdir_p(File.dirname(File.join(@root, path)))
    File.write(File.join(@root, path), text)
  end

  def text_of(path) = File.read(File.join(@root, path))

  # The files, without those that were there before.
  def written
    Dir["**/*", base: @root].select { |path| File.file?(File.join(@root, path)) }
      .reject { |path| path.start_with?("config/") }.sort
  end

  # The contents of the one migration with this name.
  def migration(name)
    text_of(
      Dir["db/migrate/*_#{name}.rb", base: @root].then { |found| assert_equal(1, found.size, name) && found.first }
    )
  end

  # What `pelton generate` says; it must succeed.
  def generate(*arguments, input: "")
    out, error = StringIO.new, StringIO.new
    status = Generators.run(arguments, root: @root, out: out, error: error, input: StringIO.new(input))

    assert_equal 0, status, error.string
    out.string
  end

  # What it complains of.
  def refused(*arguments, status: 1)
    out, error = StringIO.new, StringIO.new
    before = written

    assert_equal status, Generators.run(arguments, root: @root, out: out, error: error, input: StringIO.new),
      arguments.inspect
    assert_equal before, written
    error.string
  end
end
