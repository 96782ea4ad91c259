# frozen_string_literal: true

require_relative "support/requests"
require_relative "support/template_files"

class WebLoadingTest < PeltonTest
  include WebRequests
  include TemplateFiles

  FILES = {
    "app/controllers/web_loading_notes_controller.rb" => "class WebLoadingNotesController < Pelton::Web::Controller\n" \
      "  def show = @note = WebLoadingNote.new\nend",
    "app/models/web_loading_note.rb" => "class WebLoadingNote\n  def text = 'note'\nend",
    "app/helpers/web_loading_helper.rb" => "module WebLoadingHelper\n  def loud(text) = text.upcase\nend",
    "app/views/web_loading_notes/show.html.erb" => "<%= loud @note.text %>",
    "config/routes.rb" => "WebLoadingTest.application.routes { get '/note', to: 'web_loading_notes#show' }"
  }.freeze

  class << self
    attr_accessor :application
  end

  def teardown
    %i[WebLoadingNotesController WebLoadingNote WebLoadingHelper].each do |name|
      Object.__send__(:remove_const, name) if Object.const_defined?(name)
    end
    super
  end

  def application(environment, files = FILES)
    write(files)
    folder = @folder
    self.class.application = Class.new(Pelton::Web::Application) do
      settings.root = folder
      settings.environment = environment
      settings.secrets = ["s" * 64]
    end
  end

  def test_the_folders_in_app_the_routes_and_the_templates
    app = application("test")

    assert_equal "NOTE", request(app, "GET", "/note").body
  end

  def test_in_production_everything_is_loaded_at_boot
    app = application("production")
    app.boot!
    FileUtils.rm_rf(@folder)

    assert_equal "NOTE", request(app, "GET", "/note").body
  end

  def test_in_production_a_mistake_shows_at_boot
    assert_raises(SyntaxError) do
      application("production", FILES.merge("app/views/other.html.erb" => "<% if %>")).boot!
    end
  end

  def test_a_new_template_is_a_change
    loading = Pelton::Web::Loading.new(application("development")).load

    assert_equal false, loading.changed?
    write("app/views/web_loading_notes/new.html.erb" => "new")
    assert_equal true, loading.changed?
  end

  def test_an_application_without_folders
    app = application("test", {})
    app.routes { get("/") { "text" } }

    assert_equal "text", request(app, "GET", "/").body
    assert_nil app.settings.templates
  end
end
