# frozen_string_literal: true

require "test_helper"
require "pelton/web"
require "pelton/web/views/view"

class WebFormTest < PeltonTest
  BlogPost = Struct.new(:title, :published, :kind, :errors)

  def form(model = BlogPost.new("A&B", true, "news", {title: ["is short", "is <b>"], kind: []}), scope: nil)
    Pelton::Web::Helpers::Form.new(Pelton::Web::View.new, model, scope)
  end

  def test_fields_are_named_after_the_model_s_class_and_have_its_values
    plain = BlogPost.new("A&B")
    assert_equal '<input type="text" name="web_form_test_blog_post[title]" id="web_form_test_blog_post_title" ' \
      'value="A&amp;B" required>', form(plain).text_field(:title, required: true)
    assert_equal '<input type="email" name="email" id="email">', form(nil).email_field(:email)
    assert_equal '<input type="password" name="p[title]" id="p_title">', form(plain, scope: :p).password_field(:title)
    assert_equal "<textarea name=\"p[title]\" id=\"p_title\" rows=\"3\">\nA&amp;B</textarea>",
      form(plain, scope: :p).text_area(:title, rows: 3)
    assert_equal '<input type="file" name="p[f]" id="p_f">', form(scope: "p").file_field(:f)
  end

  def test_times_as_inputs_want_them
    time = Time.utc(2026, 2, 3, 4, 5, 6)
    fields = form(BlogPost.new(time), scope: :p)

    assert_equal({date: "2026-02-03", time: "04:05", datetime_local: "2026-02-03T04:05", month: "2026-02",
      week: "2026-W06"},
      %i[date time datetime_local month week]
        .to_h { |type| [type, fields.public_send(:"#{type}_field", :title)[/value="([^"]*)"/, 1]] })
    assert_includes fields.datetime_local_field(:title), 'type="datetime-local"'
    assert_includes form(BlogPost.new("x"), scope: :p).date_field(:title), 'value="x"'
  end

  def test_several_files
    assert_equal '<input type="file" name="p[f][]" id="p_f" multiple>', form(scope: "p").file_field(:f, multiple: true)
  end

  class Number
    def count = nil

    def has_attribute?(name) = name == :count

    def attribute_before_type_cast(_name) = "many"
  end

  def test_what_was_no_number_is_shown_again
    assert_equal '<input type="number" name="n[count]" id="n_count" value="many">',
      form(Number.new, scope: :n).number_field(:count)
  end

  def test_a_field_refers_to_its_errors
    refers = / aria-invalid="true" aria-describedby="web_form_test_blog_post_title_error"/

    [form.text_field(:title), form.text_area(:title), form.password_field(:title)].each do |field|
      assert_match refers, field
    end
    [form.text_field(:kind), form.hidden_field(:title), form(Object.new, scope: :p).text_field(:title, value: "")]
      .each { |field| refute_includes field, "aria" }
  end

  def test_labels_errors_and_the_button
    assert_equal '<label for="p_first_name">First name</label>', form(scope: :p).label(:first_name)
    assert_equal '<span class="error" id="web_form_test_blog_post_title_error">is short, is &lt;b&gt;</span>',
      form.error(:title)
    assert_nil form.error(:kind)
    assert_nil form(Object.new, scope: :p).error(:title), "a model without errors"
    assert_equal '<span class="error" id="web_form_test_blog_post_title_error">is short</span>',
      form(BlogPost.new(nil, nil, nil, {title: "is short"})).error(:title)
    assert_equal '<button type="submit">Go</button>', form.submit("Go")
  end
end
