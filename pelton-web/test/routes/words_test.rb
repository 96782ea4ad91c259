# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebRoutesWordsTest < PeltonTest
  def test_both_ways
    {"post" => "posts", "category" => "categories", "day" => "days", "class" => "classes", "box" => "boxes",
     "dish" => "dishes", "house" => "houses"}.each do |one, many|
      assert_equal one, Pelton::Web::Routes::Words.singular(many)
      assert_equal many, Pelton::Web::Routes::Words.plural(one)
    end
  end

  def test_a_singular_stays
    %w[news_item class status analysis].each { |word| assert_equal word, Pelton::Web::Routes::Words.singular(word) }
  end
end
