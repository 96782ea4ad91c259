# frozen_string_literal: true

require "fileutils"
require "tmpdir"

# A folder of the test's own, @folder, which is gone afterwards.
module TemporaryFolder
  def setup
    super
    @folder = Dir.mktmpdir("pelton-")
  end

  def teardown
    FileUtils.rm_rf(@folder)
    super
  end
end
