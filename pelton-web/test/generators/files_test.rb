# frozen_string_literal: true

require_relative "../support/generating"

class WebGeneratorsFilesTest < PeltonTest
  include Generating

  def files(answers = "", **options)
    Generators::Files.new(@root, input: StringIO.new(answers), out: @out = StringIO.new, **options)
  end

  def test_a_file_is_created_once
    2.times { files.write("a/b.txt", "é") }

    assert_equal "   identical  a/b.txt\n", @out.string
    assert_equal "é", text_of("a/b.txt")
    assert_equal "é", files.read("a/b.txt")
    assert_nil files.read("a/c.txt")
  end

  def test_it_asks_before_it_overwrites
    {"n\n" => "old", "no\n" => "old", "\n" => "new", "y\n" => "new", "x\nYES\n" => "new",
     "" => "old"}.each do |answers, text|
      put("a.txt", "old")
      files(answers).write("a.txt", "new")

      assert_equal text, text_of("a.txt"), answers.inspect
      assert_includes @out.string, "    conflict  a.txt\nOverwrite a.txt? "
      assert_includes @out.string, (text == "new") ? "       force  a.txt" : "        skip  a.txt"
    end
  end

  def test_all_others_are_overwritten_too
    %w[a b c].each { |name| put(name, "old") }
    files("n\na\n").then { |files| %w[a b c].each { |name| files.write(name, "new") } }

    assert_equal %w[old new new], %w[a b c].map { |name| text_of(name) }
  end

  def test_what_is_no_file
    FileUtils.mkdir_p(File.join(@root, "folder"))
    File.symlink("/nowhere", File.join(@root, "link"))

    %w[folder link].each do |path|
      assert_raises(Generators::Refused) { files("y\n", conflict: :force).write(path, "x") }
    end
  end

  def test_an_insertion_is_made_once
    2.times { files.insert("config/routes.rb", "  get \"/a\"\n", after: /do\n/) }

    assert_equal "   identical  config/routes.rb\n", @out.string
    assert_equal "Shop.routes do\n  get \"/a\"\n  root to: \"home#index\"\nend\n", text_of("config/routes.rb")
  end

  def test_where_there_is_no_place_for_it
    files.insert("config/routes.rb", "  get \"/a\"\n", after: /draw do\n/)

    assert_includes @out.string,
      "   unchanged  config/routes.rb: found no place for this. Add it yourself:\n               get \"/a\""
    files.insert("config/none.rb", "x\n", after: /x/)

    assert_includes @out.string, "     missing  config/none.rb. Add this yourself:\n             x\n"
    assert_equal Generating::ROUTES, text_of("config/routes.rb")
  end
end
