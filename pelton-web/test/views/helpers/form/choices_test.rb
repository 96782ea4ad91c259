# frozen_string_literal: true

require "test_helper"
require "pelton/web"
require "pelton/web/views/view"

class WebFormChoicesTest < PeltonTest
  Post = Struct.new(:published, :kind, :tag_ids)
  Tag = Struct.new(:id, :name, :tags)
  TAGS = [Tag.new(1, "R&B"), Tag.new(2, "Pop")].freeze

  def form(model = Post.new(true, "news", [2])) = Pelton::Web::Helpers::Form.new(Pelton::Web::View.new, model, :p)

  def test_boxes_and_buttons
    assert_equal '<input type="hidden" name="p[published]" value="0" autocomplete="off">' \
      '<input type="checkbox" name="p[published]" id="p_published" value="1" checked>', form.check_box(:published)
    assert_equal '<input type="radio" name="p[kind]" id="p_kind_news" value="news" checked>',
      form.radio_button(:kind, "news")
    assert_equal '<input type="radio" name="p[kind]" id="p_kind_a_b" value="a &quot;b&quot;">',
      form.radio_button(:kind, 'a "b"')
    assert_equal '<label for="p_kind_news">News</label>', form.label(:kind, "News", value: "news")
  end

  def test_a_list
    assert_equal '<select name="p[kind]" id="p_kind"><option value=""></option>' \
      '<option value="news" selected>News</option><option value="b">b</option></select>',
      form.select(:kind, [%w[News news], "b"], include_blank: true)
    assert_equal '<select name="p[kind]" id="p_kind" class="c"><option value="b" selected>b</option></select>',
      form.select(:kind, ["b"], selected: "b", prompt: "no", class: "c")
    assert_equal '<input type="hidden" name="p[tag_ids][]" value="" autocomplete="off">' \
      '<select name="p[tag_ids][]" id="p_tag_ids" multiple><option value="1">1</option>' \
      '<option value="2" selected>2</option></select>',
      form.select(:tag_ids, [1, 2], multiple: true)
  end

  def test_lists_of_objects
    assert_equal '<select name="p[tag_ids]" id="p_tag_ids"><option value="1">R&amp;B</option>' \
      '<option value="2" selected>Pop</option></select>', form.collection_select(:tag_ids, TAGS, :id, :name)
    group = Tag.new(9, "<All>", TAGS)

    assert_equal '<select name="p[kind]" id="p_kind"><optgroup label="&lt;All&gt;"><option value="1">R&amp;B</option>' \
      '<option value="2">Pop</option></optgroup></select>',
      form.grouped_collection_select(:kind, [group], :tags, :name, :id, :name)
  end

  def test_a_box_for_each_object
    assert_equal '<input type="hidden" name="p[tag_ids][]" value="" autocomplete="off">' \
      '<input type="checkbox" name="p[tag_ids][]" id="p_tag_ids_1" value="1" class="b">' \
      '<label for="p_tag_ids_1">R&amp;B</label>' \
      '<input type="checkbox" name="p[tag_ids][]" id="p_tag_ids_2" value="2" checked class="b">' \
      '<label for="p_tag_ids_2">Pop</label>', form.collection_check_boxes(:tag_ids, TAGS, :id, :name, class: "b")
    own = form(nil).collection_check_boxes(:tag_ids, TAGS.first(1), :id, :name, selected: %w[1]) do |box|
      box.label(class: "l") { box.check_box + box.text }
    end

    assert_includes own, '<label for="p_tag_ids_1" class="l">' \
      '<input type="checkbox" name="p[tag_ids][]" id="p_tag_ids_1" value="1" checked>R&amp;B</label>'
  end

  def test_a_button_for_each_object
    assert_equal '<input type="radio" name="p[kind]" id="p_kind_1" value="1"><label for="p_kind_1">R&amp;B</label>',
      form.collection_radio_buttons(:kind, TAGS.first(1), :id, :name)
    assert_equal "[1: R&amp;B]",
      form.collection_radio_buttons(:kind, TAGS.first(1), :id, :name) { |one| "[#{one.object.id}: #{one.text}]" }
  end
end
