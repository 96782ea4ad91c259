# frozen_string_literal: true

require "test_helper"
require "pelton/web"
require_relative "../../support/static_files"

class WebStaticFolderTest < PeltonTest
  include StaticFiles

  Folder = Pelton::Web::Static::Folder

  def test_a_path_is_decoded_once
    with_files("a b.txt" => "space", "a%20b.txt" => "percent", "å.txt" => "letter") do |folder|
      files = Folder.new(folder, "")

      assert_equal "a b.txt", name_of(files.find("/a b.txt"))
      assert_equal "a%20b.txt", name_of(files.find("/a%2520b.txt"))
      assert_equal "å.txt", name_of(files.find("/%c3%A5.txt"))
      ["/%c3.txt", "/a%2525%2520b.txt", "a b.txt", "/%00a b.txt"].each { |path| assert_nil files.find(path), path }
    end
  end

  def test_the_page_of_a_folder
    with_files("index.html" => "<p>", "docs/index.html" => "<b>", "x_index.html" => "x") do |folder|
      files = Folder.new(folder, "")

      assert_equal %w[index.html index.html], ["/", "/docs/"].map { |path| name_of(files.find(path)) }
      assert_nil files.find("/docs")
      assert_nil files.find("/x_")
    end
  end

  # The name as it lies on the disk comes first, so it hides no other file.
  def test_a_name_that_looks_encoded
    with_files("a%20b.txt" => "percent") do |folder|
      assert_equal "a%20b.txt", name_of(Folder.new(folder, "").find("/a%20b.txt"))
    end
  end

  def test_names_with_the_digest
    with_files("deep/er/app.css" => "css") do |folder|
      files = Folder.new(folder, "/at")
      path = files.fingerprinted("deep/er/app.css")

      assert_match(%r{\A/at/deep/er/app-\h{16}\.css\z}, path)
      assert_predicate files.find(path), :fingerprinted?
      assert_raises(ArgumentError) { files.fingerprinted("app.css") }
    end
  end

  private

  def name_of(asset) = asset && File.basename(asset.file.path)
end
