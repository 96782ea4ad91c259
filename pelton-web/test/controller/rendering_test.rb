# frozen_string_literal: true

require_relative "../support/requests"
require_relative "../support/template_files"

class WebRenderingTest < PeltonTest
  include WebRequests
  include TemplateFiles

  class << self
    # The keys of fragments that were rendered.
    attr_accessor :rendered
  end

  module Articles
    class PostsController < Pelton::Web::Controller
      helper_method :visitor

      def show
        @title = "<T>"
        @secret_free = @env.nil?
      end

      def edit = render(:show, layout: false, status: 422)

      def other = render("shared/other", locals: {a: 1})

      def rows = render(partial: "row", collection: [1, 2])

      def parts
        expires_in(Integer(params[:for]), public: true) if params[:for]
        render("parts", stream: true)
      end

      def cached = render("cached")

      def plain = render(text: render_to_string("shared/other", locals: {a: "<"}))

      def anything = render(params[:name])

      def nothing = nil

      def fresh = (render if stale?(["v", 1]))

      def unframed = render(layout: false)

      def invalid = render(status: 422)

      def text = render(plain: render_to_string)

      private

      def visitor(greeting = "hello") = "#{greeting} visitor"
    end

    class BareController < PostsController
      layout false
      def show = render("shared/other", locals: {a: 1})
    end

    class OwnController < PostsController
      layout "own"
      def show = render("shared/other", locals: {a: 1})
    end
  end

  FILES = {
    "layouts/application.html.erb" => "[<%= yield %>]", "layouts/own.html.erb" => "own(<%= yield %>)",
    "web_rendering_test/articles/posts/show.html.erb" => "<h1><%= @title %></h1>" \
      "<%= visitor %>,<%= visitor 'hi' %>,<%= params[:id] %><%= @env.inspect %>",
    "web_rendering_test/articles/posts/show.xml.erb" => "<title><%= @title %></title>",
    "web_rendering_test/articles/posts/_row.html.erb" => "<i><%= row %></i>",
    "web_rendering_test/articles/posts/parts.html.erb" => "one<% flush %><% sleep 0.001 %>two",
    "web_rendering_test/articles/posts/cached.html.erb" => "<p>before</p><% cache [:a, params[:key]] do %>" \
      "<% WebRenderingTest.rendered << params[:key] %>kept <%= params[:key] %> <% cache(:inner) do %>inner<% end %>" \
      "<% end %><p><%= params[:name] %></p>",
    **%w[fresh unframed invalid text]
      .to_h do |name|
        ["web_rendering_test/articles/posts/#{name}.html.erb", "<p>#{name} <%= controller.action_name %></p>"]
      end,
    "shared/other.html.erb" => "other<%= a %>"
  }.freeze

  def application
    write(FILES)
    folder = @folder
    Class.new(Pelton::Web::Application) do
      settings.root = folder
      settings.environment = "test"
      settings.views = [folder]
      routes do
        get "/posts/:id(.:format)", to: "web_rendering_test/articles/posts#show", constraints: {id: /\d+/}
        %w[edit other cached rows parts plain anything nothing fresh unframed invalid text].each do |action|
          get "/#{action}", to: "web_rendering_test/articles/posts##{action}"
        end
        get "/bare", to: "web_rendering_test/articles/bare#show"
        get "/own", to: "web_rendering_test/articles/own#show"
      end
    end
  end

  def body(path, **options) = request(application, "GET", path, **options).body

  def test_an_action_renders_its_own_template_in_the_layout
    answer = request(application, "GET", "/posts/7")

    assert_equal 200, answer.status
    assert_equal "text/html; charset=utf-8", answer["content-type"]
    assert_equal "[<h1>&lt;T&gt;</h1>hello visitor,hi visitor,7nil]", answer.body
  end

  def test_the_path_s_format_chooses_the_template
    answer = request(application, "GET", "/posts/7.xml")

    assert_equal "application/xml; charset=utf-8", answer["content-type"]
    assert_equal "<title>&lt;T&gt;</title>", answer.body
  end

  def test_a_format_that_no_template_has_is_not_there
    assert_equal [404, 404], %w[/posts/7.pdf /posts/7.html.erb].map { |path| request(application, "GET", path).status }
  end

  # An old client's token must not come to others, nor be missing where it is needed.
  def test_a_form_s_token_is_in_no_fragment
    write("web_rendering_test/articles/posts/nothing.html.erb" => "<% cache(:form) do %>" \
      "<%= form_with(url: '/') { } %><% end %>")
    app = application
    app.settings.secrets = ["s" * 64]
    old = {"HTTP_SEC_FETCH_SITE" => nil}
    tokens = [{}, old, old, {}].map do |env|
      request(app, "GET", "/nothing", **env).body[/authenticity_token" value="([^"]+)"/, 1]
    end

    assert_equal [false, true, true, false], tokens.map { |token| !token.nil? }
    refute_equal tokens[1], tokens[2]
  end

  def test_a_nonce_and_a_token_that_is_asked_for_are_in_no_fragment
    {"<%= Pelton::Web::SecurityHeaders.nonce(request.env) %>" => /kept (.+)/,
     "<%= controller.form_authenticity_token %>" => /kept (.+)/}.each do |code, pattern|
      write(
        "web_rendering_test/articles/posts/nothing.html.erb" => "<% Pelton::Web::SecurityHeaders.nonce(request.env) " \
          "if params[:early] %><% cache(:own) do %>kept #{code}<% end %>"
      )
      app = application
      app.settings.secrets = ["s" * 64]
      answers = ["", "", "?early=1", "?early=1"].map { |query| request(app, "GET", "/nothing#{query}") }

      assert_equal 4, answers.map { |answer| answer.body[pattern, 1] }.compact.uniq.size, code
      assert_equal ["private, no-cache"], answers.map { |answer| answer["cache-control"] }.uniq, code
    end
  end

  def test_a_page_that_is_streamed_is_not_public
    app = application
    app.settings.secrets = ["s" * 64]
    write("web_rendering_test/articles/posts/parts.html.erb" => "<% flush %><%= form_with(url: '/') { } %>")

    assert_equal ["private, max-age=60", nil],
      ["?for=60", ""].map { |query| request(app, "GET", "/parts#{query}")["cache-control"] }
  end

  def test_clients_that_ask_for_a_form_at_the_same_time_have_their_own_tokens
    write("web_rendering_test/articles/posts/nothing.html.erb" => "<% cache(:forms) do %><% sleep 0.001 %>" \
      "<%= form_with(url: '/') { } %><% end %>")
    app = application
    app.settings.secrets = ["s" * 64]
    app.boot!
    pages = Pelton.run do
      Pelton.map(Array.new(3)) { request(app, "GET", "/nothing", "HTTP_SEC_FETCH_SITE" => nil).body }
    end

    assert_equal 3, pages.map { |page| page[/authenticity_token" value="([^"]+)"/, 1] }.compact.uniq.size
  end

  def test_names_statuses_partials_and_text
    answer = request(application, "GET", "/edit")
    assert_equal 422, answer.status
    assert_equal "<h1></h1>hello visitor,hi visitor,nil", answer.body
    assert_equal "[other1]", body("/other")
    assert_equal "<i>1</i><i>2</i>", body("/rows")
    assert_equal "other&lt;", body("/plain")
  end

  def test_without_a_name_the_action_s_template_is_rendered
    {"/fresh" => [200, "[<p>fresh fresh</p>]"], "/unframed" => [200, "<p>unframed unframed</p>"],
     "/invalid" => [422, "[<p>invalid invalid</p>]"], "/text" => [200, "<p>text text</p>"]}.each do |path, expected|
      assert_equal(expected, request(application, "GET", path).then { |answer| [answer.status, answer.body] }, path)
    end
  end

  def test_a_route_s_block_has_no_template_of_its_own
    app = application
    app.routes { get("/block") { render status: 422 } }
    error = assert_raises(ArgumentError) { request(app, "GET", "/block") }

    assert_match(/give render the name/, error.message)
  end

  def test_addresses_of_routes_are_helpers
    app = application
    app.routes { get("/named/:id", as: :named) { "" } }
    app.settings.base_url = "https://mail.example"
    write("shared/urls.html.erb" => "<%= named_path(7) %> <%= named_url(7) %>")
    app.boot!

    assert_equal "/named/7 https://mail.example/named/7", app.settings.templates.render("shared/urls")
  end

  def test_fragments_are_rendered_once_and_spliced
    self.class.rendered = []
    app = application
    bodies = %w[x x y].map do |key|
      request(app, "GET", "/cached?key=%3C#{key}&name=%3C#{"n" * 2000}", "HTTP_ACCEPT_ENCODING" => "gzip")
    end

    assert_equal %w[<x <y], self.class.rendered
    assert_equal %w[gzip gzip gzip], bodies.map { |answer| answer["content-encoding"] }
    assert_equal "[<p>before</p>kept &lt;x inner<p>&lt;#{"n" * 2000}</p>]", Zlib.gunzip(bodies[1].body)
    assert_equal "[<p>before</p>kept &lt;y inner<p>&lt;</p>]", request(app, "GET", "/cached?key=%3Cy&name=%3C").body
  end

  def test_a_client_that_has_the_page_gets_304
    app = application
    first = request(app, "GET", "/other")
    again = request(app, "GET", "/other", "HTTP_IF_NONE_MATCH" => first["etag"])

    assert_equal 304, again.status
    assert_equal "", again.body
    assert_nil again["content-type"]
    assert_equal 200, request(app, "GET", "/other", "HTTP_IF_NONE_MATCH" => '"x"').status
  end

  def test_layouts_of_classes
    assert_equal "other1", body("/bare")
    assert_equal "own(other1)", body("/own")
  end

  def test_an_action_without_an_answer_and_a_template_is_an_error
    assert_raises(Pelton::Web::AnswerError) { body("/nothing") }
  end

  # A name from the request finds a template of the table, or nothing.
  def test_a_template_s_name_from_a_request
    %w[/etc/passwd ../../../../etc/passwd shared/../shared/other ./shared/other shared/other.html.erb].each do |name|
      assert_raises(Pelton::Web::MissingTemplate, name) { body("/anything?name=#{name}") }
    end
    %w[name[inline]=x name[]=shared/other name[template]=x].each do |query|
      assert_raises(ArgumentError, query) { body("/anything?#{query}") }
    end
  end
end
