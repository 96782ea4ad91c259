# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require "pelton/lab/applications/edge"

class LabEdgeTest < PeltonTest
  def test_pages_have_their_size_and_are_the_same_each_time
    [10, 100].each do |kilobytes|
      assert_in_delta kilobytes * 1024, Edge.page(kilobytes).bytesize, 200
      assert_equal Edge.page(kilobytes), Edge.page(kilobytes)
    end
  end

  def test_the_files_that_servers_send
    Dir.mktmpdir do |folder|
      Edge.write(folder)

      assert_equal Edge.asset, File.read("#{folder}/public#{Edge::ASSET_PATH}")
      assert_in_delta 20_000, Edge.asset.bytesize, 10
      assert_equal 5 << 20, File.size("#{folder}/files/file")
      assert_equal Edge.page(100), File.read("#{folder}/pages/page/100")
    end
  end
end
