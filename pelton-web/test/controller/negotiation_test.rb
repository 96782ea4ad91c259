# frozen_string_literal: true

require "pelton/web"
require_relative "../support/controllers"

class WebControllerNegotiationTest < PeltonTest
  include WebControllers

  class Formats < Pelton::Web::Controller
    def show
      respond_to do |format|
        format.html { render html: "<b>" }
        format.json { render json: 1 }
        format.csv { render plain: "a,b", content_type: "text/csv" }
      end
    end

    def any
      respond_to do |format|
        format.json { render json: 1 }
        format.any { render plain: "any" }
      end
    end
  end

  def test_the_path_s_ending
    {"/show.json" => "1", "/show.html" => "<b>", "/show.csv" => "a,b"}.each do |path, body|
      assert_equal body, get(path, "HTTP_ACCEPT" => "text/html").body
    end
    assert_equal [406, 406],
      ["/show.pdf", "/show.x%0D%0Ay"].map { |path| get(path).status }.map { |status| (status == 400) ? 406 : status }
  end

  def test_the_accept_header
    {"text/html,application/xhtml+xml,*/*;q=0.8" => "<b>", "application/json" => "1",
     "text/html;q=0.1, text/csv" => "a,b", "*/*" => "<b>", "text/*" => "<b>", nil => "<b>", "" => "<b>"}
      .each { |accept, body| assert_equal body, get("/show", "HTTP_ACCEPT" => accept).body, accept.inspect }
    assert_equal "accept", get("/show")["vary"]
    assert_equal 406, get("/show", "HTTP_ACCEPT" => "image/png").status
  end

  def test_for_all_others
    assert_equal %w[any any 1], [get("/any", "HTTP_ACCEPT" => "image/png"), get("/any.pdf"), get("/any")].map(&:body)
  end

  def test_malformed_headers
    ["\xff".b, ",;q=", "*/*;q=NaN", "a" * 5000, "/"].each do |accept|
      assert_includes [200, 406], get("/show", "HTTP_ACCEPT" => accept).status
    end
  end

  def test_an_unknown_ending_needs_its_type
    assert_raises(Pelton::Web::ConfigurationError) do
      Pelton::Web::Controller::Negotiation::Formats.new.on(:unknown) { nil }
    end
  end

  private

  def get(path, **env) = request(@app ||= serving(Formats), "GET", path, **env)
end
