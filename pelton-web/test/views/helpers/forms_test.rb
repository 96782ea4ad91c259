# frozen_string_literal: true

require "test_helper"
require "pelton/web"
require "pelton/web/views/view"

class WebFormsTest < PeltonTest
  Stored = Struct.new(:title) do
    def persisted? = true
  end

  def view(controller = nil) = Pelton::Web::View.new(controller)

  def test_methods
    assert_equal '<form action="/posts" method="post"></form>', view.form_with(url: "/posts") {}
    assert_equal '<form action="/posts" method="get"></form>', view.form_with(url: "/posts", method: :get) {}
    assert_equal '<form action="/a?x=1&amp;y" method="post" enctype="multipart/form-data" class="c">' \
      '<input type="hidden" name="_method" value="put"></form>',
      view.form_with(url: "/a?x=1&y", method: :put, multipart: true, class: "c") {}
  end

  def test_a_model_that_is_stored_is_changed
    form = view.form_with(url: "/posts/1", model: Stored.new("<T>"), scope: :post) do |fields|
      fields.text_field(:title)
    end

    assert_includes form, '<input type="hidden" name="_method" value="patch">'
    assert_includes form, '<input type="text" name="post[title]" id="post_title" value="&lt;T&gt;">'
  end

  # As a model of Sequel without the plugin active_model.
  def test_a_model_that_says_only_whether_it_is_new
    stored, fresh = [false, true].map do |value|
      Object.new.tap { |model| model.define_singleton_method(:new?) { value } }
    end

    assert_includes view.form_with(url: "/posts/1", model: stored) {}, 'value="patch"'
    refute_includes view.form_with(url: "/posts", model: fresh) {}, "patch"
  end

  def test_the_token_is_in_forms_that_change_something
    asking = Object.new.tap { |controller| def controller.csrf_field = "<input name=\"authenticity_token\">" }

    assert_equal '<form action="/" method="post"><input name="authenticity_token"></form>',
      view(asking).then { |one| one._text(one.form_with(url: "/") {}) }
    refute_includes view(asking).form_with(url: "/", method: :get) {}, "token"
  end
end
