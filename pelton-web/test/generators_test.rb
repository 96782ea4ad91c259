# frozen_string_literal: true

require_relative "support/generating"

class WebGeneratorsTest < PeltonTest
  include Generating

  def test_help_names_all_kinds_and_each_has_its_own
    assert_equal generate("--help"), generate("help")
    %w[controller model migration authentication].each do |kind|
      assert_match(/^  #{kind} +\w/, generate("--help"))
      assert_includes generate(kind, "--help"), "usage: pelton generate #{kind}"
      assert_includes generate(kind, "--help"), "--pretend"
    end
    assert_empty written
  end

  def test_wrong_arguments
    assert_includes refused(status: 2), "usage: pelton generate"
    assert_includes refused("scaffold", status: 2), "it cannot generate \"scaffold\""
    assert_includes refused("model", status: 2), "usage: pelton generate model"
    assert_includes refused("model", "post", "--nonsense", status: 2), "invalid option: --nonsense"
    assert_includes refused("authentication", "users", status: 2), "usage: pelton generate authentication"
  end

  def test_it_needs_an_application
    FileUtils.rm_rf(File.join(@root, "config"))

    assert_includes refused("model", "post"), "this is not the folder of an application"
    put("config/application.rb", "class Shop\nend\n")

    assert_includes refused("controller", "posts"), "config/application.rb defines no Pelton::Web::Application"
  end

  def test_a_pretended_command_writes_nothing_and_says_the_same
    said = generate("controller", "posts", "index", "--pretend")

    assert_empty written
    assert_equal Generating::ROUTES, text_of("config/routes.rb")
    assert_equal said, generate("controller", "posts", "index")
    refute_empty written
  end

  def test_a_quiet_command
    assert_empty generate("controller", "posts", "index", "--quiet")
    refute_empty written
  end

  def test_files_that_are_there
    generate("controller", "posts", "index")
    put("app/controllers/posts_controller.rb", "mine\n")

    assert_includes generate("controller", "posts", "index", "--skip"),
      "        skip  app/controllers/posts_controller.rb"
    assert_equal "mine\n", text_of("app/controllers/posts_controller.rb")
    assert_includes generate("controller", "posts", "index", "--force"),
      "       force  app/controllers/posts_controller.rb"
    assert_includes text_of("app/controllers/posts_controller.rb"), "class PostsController"
  end

  def test_what_cannot_be_written
    put("app/controllers", "no folder")

    assert_match(/pelton generate: .*(exists|directory)/, refused("controller", "posts"))
  end
end
