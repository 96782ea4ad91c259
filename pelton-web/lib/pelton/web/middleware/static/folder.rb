# frozen_string_literal: true

require_relative "asset"

module Pelton
  module Web
    class Static
      # A folder's files by request path: "/images/logo.png", and the same with the file's digest.
      #
      # @private
      class Folder
        LONGEST = 1024 # bytes of the longest path that is looked up
        private_constant :LONGEST

        # @param at [String] prefix of the paths, without a slash at its end
        # @raise [ConfigurationError] if there is no such folder
        def initialize(root, at)
          unless File.directory?(root)
            raise ConfigurationError, "there is no folder #{root}: name the one whose files are to be served"
          end
          @root = File.realpath(root)
          @at = at
          refresh
        end

        def find(path)
          asset = @assets[path] || (@assets[unescape(path)] if path.include?("%") && path.bytesize <= LONGEST)
          asset && current(asset)
        end

        # @return [String] "/app-5f2c81d0a3b4c6e7.css"
        def fingerprinted(name)
          path = "#{@at}/#{name.delete_prefix("/")}"
          asset = (@assets[path] if @assets.key?(path)) or raise ArgumentError, "there is no file #{name} in #{@root}"
          escape(with_digest(path, asset.digest))
        end

        # Looks for added and removed files.
        def refresh
          # Without names that begin with a dot, and without following links to folders
          names = Dir.glob("**/*", base: @root).to_h { |name| [name, true] }
          known = @assets&.values&.reject(&:fingerprinted?)&.to_h { |asset| [asset.file.path, asset] } || {}
          @assets = {}
          names.each_key { |name| add(name, known) if servable?(name, names) }
          # An index.html is also the folder's page.
          @assets.keys.grep(%r{/index\.html\z}) { |path| @assets[path.delete_suffix("index.html")] = @assets[path] }
        end

        private

        def servable?(name, names)
          path = File.join(@root, name)
          unless name.valid_encoding? && !name.match?(/[\\\x00-\x1f\x7f]/) && File.file?(path) && inside?(path)
            return false
          end
          Asset::CODINGS.each_value.none? { |ending| name.end_with?(ending) && names.key?(name.delete_suffix(ending)) }
        end

        # A link may lead to another file in the folder, but not outside.
        def inside?(path)
          real = File.realpath(path)
          real.start_with?("#{@root}/") && real.delete_prefix(@root).then { |rest| !rest.include?("/.") } &&
            File.readable?(real)
        rescue SystemCallError
          false
        end

        def add(name, known)
          path = File.join(@root, name)
          asset = known[path]
          asset = Asset.new(path) unless asset&.current?
          return unless asset.paths.all? { |one| inside?(one) }
          @assets["#{@at}/#{name}"] = asset
          @assets[with_digest("#{@at}/#{name}", asset.digest)] = asset.fingerprinted
        rescue SystemCallError
          nil # removed meanwhile
        end

        # A changed file makes the folder be read again.
        def current(asset)
          return asset if asset.current?
          refresh
          @assets.each_value.find do |one|
            one.file.path == asset.file.path && one.fingerprinted? == asset.fingerprinted? && one.digest == asset.digest
          end ||
            (@assets[path_of(asset)] unless asset.fingerprinted?)
        rescue SystemCallError
          refresh
          nil
        end

        def path_of(asset) = @at + asset.file.path.delete_prefix(@root)

        def with_digest(path, digest)
          ending = File.extname(path)
          "#{path.delete_suffix(ending)}-#{digest}#{ending}"
        end

        def escape(path)
          path.gsub(%r{[^\w/.\-~]}) { |letter| letter.bytes.map { |byte| format("%%%02X", byte) }.join }
        end

        # @return [String, nil] nil if it cannot be a file's name
        def unescape(path)
          text = path.b.gsub(/%(\h\h)/) { $1.hex.chr }.force_encoding(Encoding::UTF_8)
          text if text.valid_encoding?
        end
      end
    end
  end
end
