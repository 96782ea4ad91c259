# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebPiecesTest < PeltonTest
  def test_marks_stand_for_fragments
    pieces = Pelton::Web::Pieces.new
    marks = ["<b>", "&"].map { |text| pieces.mark(Pelton::HTTP::Fragment.new(text)) }
    text = "<p>#{marks.first}</p>#{CGI.escapeHTML(marks.last)}#{marks.first}"

    assert_equal ["<p><b></p>&<b>"] * 2, [pieces.text(text), pieces.page(text).text]
    assert_equal 3, pieces.page(text).fragments.size
    assert_equal "\0#{"0" * 16}:0\0", pieces.text("\0#{"0" * 16}:0\0"),
      "nobody who sends what looks like a mark can insert a fragment"
    page = pieces.page("plain")
    assert_equal "plain", page.text
    assert_equal 0, page.fragments.size
  end
end
