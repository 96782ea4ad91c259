# frozen_string_literal: true

require "fileutils"
require "tmpdir"

# Folders with files, for the tests of Pelton::Web::Static.
module StaticFiles
  # @param files [Hash{String => String}] name => content
  # @yieldparam folder [String]
  def with_files(files)
    Dir.mktmpdir do |folder|
      folder = File.realpath(folder)
      files.each { |name, content| write_file(folder, name, content) }
      yield folder
    end
  end

  def write_file(folder, name, content)
    path = File.join(folder, name)
    FileUtils.mkdir_p(File.dirname(path))
    File.binwrite(path, content)
    path
  end
end
