# frozen_string_literal: true

require "test_helper"
require "pelton/web"
require "pelton/web/views/view"

class WebOptionsTest < PeltonTest
  Color = Struct.new(:id, :name)

  def view = Pelton::Web::View.new

  def test_choices
    assert_equal '<option value="red">red</option><option value="2" selected>Green</option>' \
      '<option value="3" data-hex="00f">Blue</option>',
      view.options_for_select(["red", ["Green", 2], ["Blue", 3, {data: {hex: "00f"}}]], 2)
    assert_equal '<option value="">None</option><option value="false" selected>No</option>',
      view.options_for_select({"None" => nil, "No" => false}, false)
    assert_equal '<option value="a" selected disabled>a</option><option value="b">b</option>' \
      '<option value="c" selected>c</option>', view.options_for_select(%i[a b c], %w[a c], disabled: :a)
    assert_equal '<option value="1" selected>1</option>', view.options_for_select(1..1, Set[1])
    assert_equal "", view.options_for_select([])
  end

  def test_groups
    assert_equal '<optgroup label="Warm &amp; more"><option value="red">red</option></optgroup>' \
      '<optgroup label="Cold"><option value="3" selected>Blue</option></optgroup>',
      view.options_for_select({"Warm & more" => ["red"], "Cold" => {"Blue" => 3}}, "3")
  end

  def test_collections
    colors = [Color.new(1, "R&B"), Color.new(2, "Green")]

    assert_equal '<option value="1">R&amp;B</option><option value="2" selected>Green</option>',
      view.options_from_collection_for_select(colors, :id, :name, 2)
    assert_equal '<option value="2">GREEN</option>',
      view.options_from_collection_for_select(colors.last(1), ->(one) { one.id }, ->(one) { one.name.upcase })
  end

  def test_a_select
    assert_equal '<select name="post[color]" id="post_color"><option value="">Please select</option>' \
      '<option value="a">a</option></select>', view.select_tag("post[color]", ["a"], prompt: true)
    assert_equal '<select name="c" id="x" class="y"><option value="">any</option>' \
      '<option value="a" selected>a</option></select>',
      view.select_tag(:c, ["a"], selected: "a", prompt: "choose", include_blank: "any", id: "x", class: "y")
    assert_equal '<select name="c" id="c"><option value="1">one</option></select>',
      view.select_tag(:c, view.raw('<option value="1">one</option>'))
  end

  def test_a_select_of_several_sends_an_empty_list
    assert_equal '<input type="hidden" name="c[]" value="" autocomplete="off"><select name="c[]" id="c" multiple>' \
      '<option value="a">a</option></select>', view.select_tag(:c, ["a"], multiple: true)
    assert_equal '<select name="c[]" id="c" multiple disabled><option value="a">a</option></select>',
      view.select_tag(:c, ["a"], multiple: true, disabled: true)
  end
end
