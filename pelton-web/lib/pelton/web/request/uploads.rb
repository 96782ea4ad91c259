# frozen_string_literal: true

require "fileutils"
require "securerandom"

module Pelton
  module Web
    # Stores uploaded files in a folder. Each has a random name, the key, which a model keeps; no part of the client's
    # name gets into a path. The folder must not be public: {Controller::Files#send_upload} sends the files, and decides
    # whether a browser may show them.
    #
    #     photo = params.file(:photo, types: %w[image/jpeg image/png], max_bytes: 5 << 20)
    #     uploads.keep(photo) do |key|
    #       current_user.add_photo(file: key, type: photo.type, name: photo.original_filename)
    #     end
    class Uploads
      KEY = %r{\A\h{2}/\h{32}\z}
      private_constant :KEY

      attr_reader :folder

      # @param folder [String, Pathname] created with the first file
      def initialize(folder)
        @folder = File.expand_path(folder.to_s)
      end

      # Stores a file under a new name. The temporary file is moved, or copied to another file system, and is on the
      # disk when the key is returned. Other fibers run meanwhile.
      #
      # @yieldparam key [String] if the block raises, the file is deleted again
      # @return [String, Object] the key; with a block, its value
      # @raise [SystemCallError] if the file cannot be written
      # @raise the block's error
      # @asynchronous
      def keep(upload)
        name = SecureRandom.hex(16)
        key = "#{name[0, 2]}/#{name}"
        upload.tempfile.flush
        move(upload.tempfile.path, locate(key))
        upload._kept(locate(key)) if upload.is_a?(Params::Upload)
        return key unless block_given?
        kept = false
        yield(key).tap { kept = true }
      ensure
        delete(key) if kept == false
      end

      # @return [String] the file's path
      # @raise [NotFound] if there is no such file, or the key is invalid
      def path(key)
        raise NotFound unless key?(key) && File.file?(path = locate(key))
        path
      end

      # @return [Boolean] whether the file existed
      # @asynchronous
      def delete(key)
        return false unless key?(key)
        Pelton.offload { File.unlink(locate(key)) } # takes long for a large file
        true
      rescue Errno::ENOENT
        false
      end

      def inspect = "#<#{self.class} #{@folder}>"

      # @private
      # @raise [ConfigurationError] if the folder is inside of the public one
      def outside(public)
        return self unless public && "#{@folder}/".start_with?("#{File.expand_path(public)}/")
        raise ConfigurationError, "uploads in #{@folder} could be opened by anybody, as they are in the public " \
          "folder: set settings.uploads to a folder outside of it"
      end

      private

      def key?(key) = key.is_a?(String) && KEY.match?(key.b)

      def locate(key) = File.join(@folder, key)

      # A truncated file, as after a full disk, must never have the name of a complete one.
      def move(from, to)
        Pelton.offload do
          FileUtils.mkdir_p(File.dirname(to))
          begin
            File.open(from, "rb", &:fsync)
            File.rename(from, to)
          rescue Errno::EXDEV
            copy(from, to)
          end
          File.open(File.dirname(to), &:fsync) # puts the name on the disk, too
        end
      end

      def copy(from, to)
        part = "#{to}.part"
        File.open(part, File::WRONLY | File::CREAT | File::EXCL | File::BINARY, 0o600) do |file|
          IO.copy_stream(from, file)
          file.fsync
        end
        File.rename(part, to)
      rescue
        FileUtils.rm_f(part)
        raise
      end
    end

    class Settings
      # @!attribute uploads
      #   @return [Uploads] the store for uploaded files; by default the folder `uploads` in {#root}
      setting(:uploads, ->(settings) { Uploads.new(File.join(settings.root, "uploads")) }) do |value|
        unless value.is_a?(Uploads)
          "must be a Pelton::Web::Uploads, such as Pelton::Web::Uploads.new(\"/var/lib/shop/uploads\")"
        end
      end
    end
  end
end
