# frozen_string_literal: true

require_relative "../support/generating"

# What it writes is tested by its own tests: integration/generators_test.rb runs them.
class WebGeneratorsAuthenticationTest < PeltonTest
  include Generating

  def setup
    super
    put("Gemfile", "gem \"pelton-sequel\"\n\ngem \"rake\"\n")
    put("config/application.rb", "#{Generating::CONFIGURATION}\nBACKGROUND = Pelton::Background.new\n")
    put("app/controllers/application_controller.rb", "class ApplicationController < Pelton::Web::Controller\nend\n")
    put("app/views/layouts/application.html.erb", "<html>\n<body class=\"a\">\n<%= yield %>\n</body>\n</html>\n")
    put("test/test_helper.rb",
      "require \"pelton/web/test\"\n\nclass ApplicationTest < Minitest::Test\n  include Pelton::Web::Test\nend\n")
  end

  def test_it_writes_users_and_their_sign_ins
    generate("authentication")

    assert_includes written, "app/models/user.rb"
    assert_includes written, "test/support/signing_in.rb"
    assert_includes migration("create_users"), "create_table(:users)"
    assert_includes migration("create_sign_ins"), "foreign_key :user_id, :users"
    assert_empty written.grep(/\.tt\z|\Adb\/create/)
    refute_match(/\{%|%\}/, written.map { |path| text_of(path) }.join)
    assert_includes text_of("app/models/password_reset.rb"), "Shop.settings.secrets"
    written.grep(/\.rb\z/).each { |path| assert RubyVM::InstructionSequence.compile(text_of(path), path) }
  end

  def test_it_joins_them_to_the_application
    2.times { generate("authentication", "--skip") }

    assert_equal "gem \"pelton-sequel\"\ngem \"bcrypt\", \"~> 3.1\"\n\ngem \"rake\"\n", text_of("Gemfile")
    assert_includes text_of("config/application.rb"), "BACKGROUND.every(3600, \"old sign-ins\") { SignIn.clean }\n"
    assert_includes text_of("config/routes.rb"), "Shop.routes do\n  resource :sign_up, only: [:new, :create]\n"
    assert_equal 1, text_of("config/routes.rb").scan("resource :password,").size
    assert_includes text_of("app/controllers/application_controller.rb"), "Controller\n  include CurrentUser\nend\n"
    assert_includes text_of("app/views/layouts/application.html.erb"),
      "<body class=\"a\">\n<%= render \"shared/account\" %>\n<%= yield %>"
    assert_includes text_of("test/test_helper.rb"),
      "require \"pelton/web/test\"\nrequire_relative \"support/signing_in\"\n"
    assert_includes text_of("test/test_helper.rb"), "  include Pelton::Web::Test\n  include SigningIn\n"
  end

  # Where the application looks otherwise, the lines are shown.
  def test_what_has_no_place_is_shown
    put("app/views/layouts/application.html.erb", "<%= yield %>\n")
    FileUtils.rm(File.join(@root, "test/test_helper.rb"))
    said = generate("authentication")

    assert_includes said, "app/views/layouts/application.html.erb: found no place for this. Add it yourself:\n" \
      "             <%= render \"shared/account\" %>"
    assert_includes said, "missing  test/test_helper.rb. Add this yourself:"
  end

  # Its own files would not fit to it.
  def test_another_user_is_not_touched
    put("app/models/user.rb", "class User < Sequel::Model\n  one_to_many :posts\nend\n")

    assert_includes refused("authentication"), "the application has a User that cannot sign in"
    assert_includes refused("authentication", "--force"), "app/models/user.rb"
  end

  def test_what_is_refused
    put("config/application.rb", Generating::CONFIGURATION.sub("require \"pelton/sequel\"\n", ""))

    assert_includes refused("authentication"), "the application has no models"
    put("config/application.rb", Generating::CONFIGURATION.gsub("Shop", "User"))

    assert_includes refused("authentication"), "User is the name of something else"
  end
end
