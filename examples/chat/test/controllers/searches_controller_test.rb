# frozen_string_literal: true

require "test_helper"

class SearchesControllerTest < ApplicationTest
  def test_pages_have_one_search_landmark
    sign_in
    %w[/search /directs/new].each do |path|
      get path

      assert_equal 1, response.body.scan("role=\"search\"").size, path
    end
  end
end
