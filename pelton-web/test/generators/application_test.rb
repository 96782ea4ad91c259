# frozen_string_literal: true

require "test_helper"
require_relative "../support/generated_application"

class WebGeneratorsApplicationTest < PeltonTest
  include GeneratedApplication

  def test_it_writes_all_files
    files = generate

    assert_includes files, ".gitignore"
    assert_equal files,
      Dir["**/*", ".*", base: File.join(@folder, "photo_album")]
        .select { |file| File.file?(File.join(@folder, "photo_album", file)) }.sort
    refute_match(/\{%|%\}/, files.map { |file| File.read(File.join(@folder, "photo_album", file)) }.join)
    assert_includes File.read(File.join(@folder, "photo_album/config/application.rb")),
      "class PhotoAlbum < Pelton::Web::Application"
    Dir[File.join(@folder, "**/*.rb")].each { |file| assert RubyVM::InstructionSequence.compile_file(file) }
  end

  def test_it_never_overwrites
    Dir.mkdir(File.join(@folder, "photo_album"))
    File.write(File.join(@folder, "shop"), "mine")
    File.symlink("/nowhere", File.join(@folder, "link"))

    %w[photo_album shop link].each do |name|
      assert_includes assert_raises(Pelton::Web::Generators::Refused) { generate(name) }.message, "is there already"
    end
    assert_equal "mine", File.read(File.join(@folder, "shop"))
    assert_empty Dir.children(File.join(@folder, "photo_album"))
  end

  def test_names_that_are_none
    ["Shop", "../shop", "/tmp/shop", "a b", "a-b", "1a", "_a", "a_", "a__b", "", "a\n", "a;b", "é", "a" * 51,
      "kernel", "pelton", "message", "messages_channel", "string", "test", "%{x}", "1"].each do |name|
      assert_raises(Pelton::Web::Generators::Refused, name) { generate(name) }
    end
    assert_empty Dir.children(@folder)
  end

  def test_the_command
    out, error = StringIO.new, StringIO.new
    run = ->(*arguments) do
      Dir.chdir(@folder) { Pelton::Web::Generators::Application.run(arguments, out: out, error: error) }
    end

    assert_equal 0, run.call("shop")
    assert_equal 1, run.call("shop")
    assert_equal 2, run.call
    assert_equal 2, run.call("a", "b")
    assert_equal 2, run.call("--nonsense")
    assert_equal 0, run.call("--help")
    assert_includes out.string, "      create  app/models/message.rb\n"
    assert_includes out.string, "shop/ is written"
    assert_includes File.read(File.join(@folder, "shop/Gemfile")), "gem \"pelton-web\", \"~> #{Pelton::VERSION}\""
    assert_includes File.read(File.join(@folder, "shop/Gemfile")), "source #{Gem.sources.to_a.first.inspect}"
    assert_equal RUBY_VERSION >= "4.0", File.read(File.join(@folder, "shop/Gemfile")).include?("gem \"irb\"")
    assert_equal 1, run.call("other", "--gems", @folder)
  end

  def test_the_database
    read = ->(path) { File.read(File.join(@folder, path)) }
    generate("one", database: "postgres")

    assert_includes read.call("one/Gemfile"), "gem \"pg\""
    assert_includes read.call("one/config/database.rb"), "\"postgres:///one_\#{environment}\""
    assert_includes read.call("one/test/test_helper.rb"), "\"postgres:///one_test\""
    generate("two", database: "mysql")

    assert_includes read.call("two/Gemfile"), "gem \"trilogy\""
    files = generate("three", database: "none")

    refute_match(/record|DATABASE/i, files.map { |file| read.call("three/#{file}") }.join)
    assert_empty files.grep(%r{\A(?:db|app/models)/})
  end

  def test_a_bare_application
    files = generate("one", bare: true)

    assert_includes files, "app/controllers/home_controller.rb"
    refute_match(/message/i,
      files.map { |file| File.read(File.join(@folder, "one", file)) }.join.gsub("message) =", ""))
  end
end
