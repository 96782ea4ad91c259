# frozen_string_literal: true

require "test_helper"
require "pelton/web"
require_relative "../support/static_files"

class WebStaticFilePartTest < PeltonTest
  include StaticFiles

  def test_a_part
    content = Random.new(1).bytes(200_000)
    with_files("a" => content) do |folder|
      path = File.join(folder, "a")
      [0..0, 0..65_535, 0..65_536, 100..199_999, 199_999..199_999].each do |range|
        assert_equal content[range], Pelton::Web::Static::FilePart.new(path, range).enum_for(:each).to_a.join
      end
      assert_equal content, Pelton::Web::Static::WholeFile.new(path, 0...200_000).enum_for(:each).to_a.join
      assert_equal path, Pelton::Web::Static::WholeFile.new(path, 0...200_000).to_path
      refute_respond_to Pelton::Web::Static::FilePart.new(path, 0..1), :to_path
    end
  end

  # A response that ends early must not look whole.
  def test_a_file_that_became_shorter
    with_files("a" => "short") do |folder|
      assert_raises(EOFError) { Pelton::Web::Static::FilePart.new(File.join(folder, "a"), 0...10).each {} }
    end
  end
end
