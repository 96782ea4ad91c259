# frozen_string_literal: true

require "pelton/web"
require "pelton/web/views/view"
require_relative "../../../support/template_files"

class WebFormNestedTest < PeltonTest
  include TemplateFiles

  Line = Struct.new(:id, :article) do
    def persisted? = !id.nil?
  end

  class Order
    attr_accessor :lines, :address, :notes
    attr_writer :lines_attributes, :address_attributes
  end

  def form(order) = Pelton::Web::Helpers::Form.new(Pelton::Web::View.new, order, :order)

  def order(**values) = Order.new.tap { |one| values.each { |name, value| one.public_send(:"#{name}=", value) } }

  def test_each_object_of_a_list_has_its_number
    html = form(order(lines: [Line.new(7, "<Tea>"), Line.new(nil, "")])).fields_for(:lines) do |line|
      line.text_field(:article) + line.check_box(:_destroy)
    end

    assert_includes html, '<input type="hidden" name="order[lines_attributes][0][id]" ' \
      'id="order_lines_attributes_0_id" value="7">' \
      '<input type="text" name="order[lines_attributes][0][article]" id="order_lines_attributes_0_article" ' \
      'value="&lt;Tea&gt;">'
    assert_includes html,
      '<input type="text" name="order[lines_attributes][1][article]" id="order_lines_attributes_1_article" value="">'
    refute_includes html, "[1][id]"
    assert_includes html, 'name="order[lines_attributes][0][_destroy]"'
  end

  def test_one_object
    assert_equal '<input type="hidden" name="order[address_attributes][id]" id="order_address_attributes_id" ' \
      'value="3"><input type="text" name="order[address_attributes][article]" ' \
      'id="order_address_attributes_article" value="x">',
      form(order(address: Line.new(3, "x"))).fields_for(:address) { |one| one.text_field(:article) }
  end

  def test_objects_of_the_caller_s
    fields = form(order(lines: []))

    assert_equal "order[lines_attributes][0][article]",
      name_in(fields.fields_for(:lines, Line.new) { |one| one.text_field(:article) })
    assert_equal "order[lines_attributes][1][article]",
      name_in(fields.fields_for(:lines, [Line.new]) { |one| one.text_field(:article) })
    assert_equal "order[lines_attributes][NEW][article]",
      name_in(fields.fields_for(:lines, Line.new, index: "NEW") { |one| one.text_field(:article) })
    assert_equal "order[notes][article]", name_in(fields.fields_for(:notes) { |one| one.text_field(:article) })
    assert_equal "filter[text]",
      name_in(Pelton::Web::Helpers::Form.new(Pelton::Web::View.new, nil, nil)
        .fields_for(:filter) { |one| one.text_field(:text) })
    assert_equal "", form(order(lines: [])).fields_for(:lines) { |one| one.text_field(:article) }
  end

  def test_in_a_template
    text =
      "<%= form_with(model: @order, scope: :order, url: '/') do |form| %>[<%= form.fields_for :lines do |line| %><b>" \
      "<%= line.text_field :article %></b><% end %>]<% end %>"

    expected =
      %r{\A<form[^>]*>\[<b><input type="text" name="order\[lines_attributes\]\[0\]\[article\]"[^>]*></b>\]</form>\z}
    assert_match expected, rendered(text, order: order(lines: [Line.new]))
  end

  private

  def name_in(html) = html[/name="([^"]*)"/, 1]
end
