# frozen_string_literal: true

require "fileutils"
require "open3"

# A copy of the tree for another Ruby, because the extension is compiled for one: the files that git knows or would add.
# Those that have not changed keep their time, so that only changes are compiled.
class TreeCopy
  TREE = File.expand_path("../..", __dir__)

  # @param folder [String] of the copy
  # @param list [String] a file that names what was copied last
  def initialize(folder, list)
    @folder, @list = folder, list
  end

  def update
    files, = Open3.capture2(*%w[git ls-files -z --cached --others --exclude-standard], chdir: TREE)
    files = files.split("\0").select { |file| File.exist?(File.join(TREE, file)) }
    gone = File.exist?(@list) ? File.read(@list).split("\0") - files : []
    FileUtils.rm_f(gone.map { |file| File.join(@folder, file) })
    files.each { |file| copy(File.join(TREE, file), File.join(@folder, file)) }
    File.write(@list, files.join("\0"))
  end

  private

  def copy(original, copy)
    FileUtils.mkdir_p(File.dirname(copy))
    if File.symlink?(original)
      FileUtils.ln_s(File.readlink(original), copy) unless File.symlink?(copy)
    elsif !File.exist?(copy) || !FileUtils.identical?(original, copy)
      FileUtils.cp(original, copy)
    end
  end
end
