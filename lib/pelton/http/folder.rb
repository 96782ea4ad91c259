# frozen_string_literal: true

module Pelton
  module HTTP
    # A folder whose files may be sent, and none outside of it, whatever symbolic links lie in it.
    # @private
    class Folder
      # @param path [String]
      # @raise [SystemCallError] there is no such folder
      def initialize(path)
        @paths = [File.expand_path(path), _open(File.expand_path(path))].uniq.map { |name| name.chomp("/") }
      end

      # @return [String] as it was given, but absolute
      def path = @paths.first

      # @param path [String] absolute, without "." and ".."
      # @return [String, nil] its name within the folder; nil: it lies elsewhere
      def name_of(path)
        folder = @paths.find { |name| path.start_with?("#{name}/") }
        path.delete_prefix("#{folder}/") if folder
      end

      # @param name [String] within the folder
      # @return [File] for reading
      # @raise [SystemCallError] it is no regular file (Errno::EISDIR, Errno::ENXIO), or a link leads out (Errno::EXDEV)
      def open(name) = File.for_fd(_open_file(name), "rb")
    end
  end
end
