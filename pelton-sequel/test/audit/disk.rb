# frozen_string_literal: true

require "fileutils"
require "open3"
require "tmpdir"

module DatabaseAudit
  # A small file system in memory, which can be full for a while. Only root may make one.
  class Disk
    SIZE = "600m"
    MARGIN = 4 << 20 # bytes that others may write while most of the rest is taken

    # @return [String]
    attr_reader :folder

    # @return [Disk, nil]
    def self.mount(owner)
      folder = Dir.mktmpdir("pelton-sequel-audit-")
      if Process.uid.zero? && system("mount", "-t", "tmpfs", "-o", "size=#{SIZE},mode=700", "pelton", folder,
        err: File::NULL)
        return new(folder, owner)
      end
      Dir.rmdir(folder)
      nil
    end

    def initialize(folder, owner)
      @folder = folder
      FileUtils.chown(owner, nil, folder)
    end

    # Nothing more can be written while the block runs.
    def full
      ballast = File.join(@folder, "ballast")
      margin = MARGIN
      margin *= 2 until take(ballast, [free - margin, 1].max) # on a busy machine others may have written more meanwhile
      write_until_full(ballast)
      yield
    ensure
      FileUtils.rm_f(ballast)
    end

    def unmount
      system("umount", "-l", @folder)
      Dir.rmdir(@folder)
    end

    private

    def free = Integer(Open3.capture2("df", "--output=avail", "-B1", @folder).first[/\d+/])

    def take(path, bytes) = system("fallocate", "-l", bytes.to_s, path, err: File::NULL)

    def write_until_full(path)
      File.open(path, "ab") { |file| loop { file.syswrite("\0" * 4096) } }
    rescue Errno::ENOSPC
      nil
    end
  end
end
