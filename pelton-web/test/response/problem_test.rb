# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebProblemTest < PeltonTest
  def answer(accept, verb = "GET")
    Pelton::Web::Problem.new(422, detail: "<b> is missing", members: {errors: []},
      headers: {"x-a" => "b"}).response({"HTTP_ACCEPT" => accept, "REQUEST_METHOD" => verb})
  end

  def test_json_for_those_who_accept_it
    ["application/json", "application/problem+json", "application/json, text/plain;q=0.5"].each do |accept|
      status, headers, body = answer(accept)

      assert_equal 422, status
      assert_equal "application/problem+json", headers["content-type"]
      assert_equal "b", headers["x-a"]
      assert_equal({
        "title" => Rack::Utils::HTTP_STATUS_CODES[422],
        "status" => 422,
        "detail" => "<b> is missing",
        "errors" => []
      }, JSON.parse(body.join))
    end
  end

  Lost = Class.new(StandardError) { define_method(:web_status) { 404 } }
  Wrong = Class.new(Lost) { define_method(:web_detail) { "what the client may know" } }

  def test_errors_say_their_statuses_themselves
    assert_equal [[404, nil], [404, "what the client may know"], [403, "no"]],
      [Lost.new("of the program"), Wrong.new("of the program"),
        Pelton::Web::Forbidden.new("no")]
        .map { |error| Pelton::Web::Problem.of(error).then { |problem| [problem.status, problem.detail] } }
    assert_nil Pelton::Web::Problem.of(KeyError.new)
  end

  def test_settings_give_errors_a_status
    settings = Pelton::Web::Settings.new
    settings.errors = {"IndexError" => 410, KeyError => 409, Lost => 418}

    assert_equal([409, 410, 418, 418, nil], [KeyError, StopIteration, Lost,
      Wrong, TypeError].map { |type| Pelton::Web::Problem.of(type.new, settings)&.status })
    [nil, {KeyError => 500}, {1 => 404}, {KeyError => "404"}].each do |value|
      assert_raises(Pelton::Web::ConfigurationError) { settings.errors = value }
    end
  end

  def named(name, base = StandardError, &block)
    Class.new(base) { define_singleton_method(:name) { name } }.tap { |type| type.class_eval(&block) if block }
  end

  # By name, since neither library need be loaded.
  def test_errors_of_sequel_and_active_record_have_a_status
    statuses = {
      404 => %w[Sequel::NoMatchingRow ActiveRecord::RecordNotFound],
      409 => %w[Sequel::NoExistingObject ActiveRecord::StaleObjectError],
      422 => %w[Sequel::ValidationFailed ActiveRecord::RecordInvalid ActiveModel::ValidationError],
      400 => %w[Sequel::MassAssignmentRestriction Sequel::InvalidValue ActiveModel::ForbiddenAttributesError],
      nil => %w[Sequel::Error ActiveRecord::RecordNotUnique]
    }
    settings = Pelton::Web::Settings.new
    settings.errors = {KeyError => 409}

    statuses.each do |status, names|
      names.each do |name|
        assert_equal [status] * 2,
          [settings, nil].map { |some| Pelton::Web::Problem.of(named(name).new, some)&.status }, name
      end
    end
  end

  class Messages < Hash
    def full_messages = flat_map { |name, details| details.map { |detail| "#{name} #{detail}" } }
  end

  Model = Struct.new(:errors)

  def test_the_client_learns_what_validations_have_found
    found = Messages.new.update(title: ["is missing", "is <short>"])
    own = named("Sequel::ValidationFailed") { define_method(:errors) { found } }
    of_record = named("ActiveRecord::RecordInvalid") { define_method(:record) { Model.new(found) } }
    of_model = named("ActiveModel::ValidationError") { define_method(:model) { Model.new(found) } }
    [own, of_record, of_model].each do |type|
      problem = Pelton::Web::Problem.of(type.new("of the program"), Pelton::Web::Settings.new)
      document = JSON.parse(problem.response({"HTTP_ACCEPT" => "application/json"}).last.join)

      assert_equal "title is missing, title is <short>", document["detail"], type.name
      assert_equal [{"name" => "title", "detail" => "is missing"}, {"name" => "title", "detail" => "is <short>"}],
        document["errors"], type.name
    end
    assert_nil Pelton::Web::Problem.of(named("ActiveRecord::RecordInvalid") { define_method(:record) {} }.new,
      Pelton::Web::Settings.new).detail
  end

  def test_a_page_for_browsers
    _, headers, body = answer("text/html,application/xhtml+xml,*/*;q=0.8")

    assert_equal "text/html; charset=utf-8", headers["content-type"]
    assert_includes body.join, "&lt;b&gt; is missing"
  end

  def test_text_for_all_others
    [nil, "*/*", "image/png", "text/plain"].each do |accept|
      assert_equal ["text/plain; charset=utf-8", "#{Rack::Utils::HTTP_STATUS_CODES[422]}: <b> is missing\n"],
        answer(accept).then { |_, headers, body| [headers["content-type"], body.join] }
    end
  end

  def test_head_has_no_body
    assert_empty answer("*/*", "HEAD").last
  end
end
