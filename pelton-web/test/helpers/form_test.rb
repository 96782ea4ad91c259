# frozen_string_literal: true

require "test_helper"
require "pelton/web"
require "pelton/web/view"

class WebFormTest < PeltonTest
  BlogPost = Struct.new(:title, :published, :kind, :errors)

  def form(model = BlogPost.new("A&B", true, "news", {title: ["is short", "is <b>"], kind: []}), scope: nil)
    Pelton::Web::Helpers::Form.new(Pelton::Web::View.new, model, scope)
  end

  def test_fields_are_named_after_the_model_s_class_and_have_its_values
    assert_equal '<input type="text" name="web_form_test_blog_post[title]" id="web_form_test_blog_post_title" value="A&amp;B" required>', form.text_field(:title, required: true)
    assert_equal '<input type="email" name="email" id="email">', form(nil).email_field(:email)
    assert_equal '<input type="password" name="p[title]" id="p_title">', form(scope: :p).password_field(:title)
    assert_equal "<textarea name=\"p[title]\" id=\"p_title\" rows=\"3\">\nA&amp;B</textarea>", form(scope: :p).text_area(:title, rows: 3)
    assert_equal '<input type="file" name="p[f]" id="p_f">', form(scope: "p").file_field(:f)
  end

  def test_choices
    assert_equal '<input type="hidden" name="p[published]" value="0" autocomplete="off"><input type="checkbox" name="p[published]" id="p_published" value="1" checked>',
      form(scope: :p).check_box(:published)
    assert_equal '<input type="radio" name="p[kind]" id="p_kind_news" value="news" checked>', form(scope: :p).radio_button(:kind, "news")
    assert_equal '<select name="p[kind]" id="p_kind"><option value=""></option><option value="news" selected>News</option><option value="b">b</option></select>',
      form(scope: :p).select(:kind, [%w[News news], "b"], include_blank: true)
  end

  def test_labels_errors_and_the_button
    assert_equal '<label for="p_first_name">First name</label>', form(scope: :p).label(:first_name)
    assert_equal '<span class="error">is short, is &lt;b&gt;</span>', form.error(:title)
    assert_nil form.error(:kind)
    assert_equal '<button type="submit">Go</button>', form.submit("Go")
  end
end
