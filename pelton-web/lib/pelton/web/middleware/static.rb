# frozen_string_literal: true

require "rack/files"
require_relative "../settings"
require_relative "static/folder"

module Pelton
  module Web
    # Rack middleware that serves the files of a folder and passes other requests on. Works without the framework:
    #
    #     use Pelton::Web::Static, root: "public"
    #
    # A path is looked up in the list of the folder's files and never becomes a file system path, so no encoding of `..`
    # leads outside. Files whose names begin with a dot, and links that lead outside, are not served.
    #
    # - Each file has a second path with its digest ({#asset_path}), under which clients keep it for a year. Under the
    #   plain path clients ask each time, and get 304.
    # - A file with the same name plus `.br` or `.gz` is sent to clients that accept that encoding.
    # - A single Range is supported. Servers that can, such as Pelton's, send files by sendfile.
    class Static
      FOREVER = "public, max-age=31536000, immutable"
      ASK = "public, no-cache" # clients may keep it, but must revalidate
      ONE_RANGE = /\A\s*bytes\s*=\s*(?:\d+-\d*|-\d+)\s*\z/i
      SMALL = 65_536 # bytes
      private_constant :FOREVER, :ASK, :ONE_RANGE, :SMALL

      class << self
        # For {Application::LAYERS}.
        #
        # @private
        def wrap(app, settings) = settings.static&._around(app) || app

        # @private
        # @return [Static, nil] nil: there is no {Settings#public_folder}
        def of(settings) = settings.public_folder && new(root: settings.public_folder, reload: settings.development?)
      end

      # @param app [#call, nil] gets all other requests; nil: they get 404
      # @param root [String] the folder
      # @param at [String] a prefix of the paths: "/assets"
      # @param cache_control [String] for files under their plain paths
      # @param reload [Boolean] whether to look for added files, for development. Changed files are always noticed
      # @raise [ConfigurationError] if there is no such folder
      def initialize(app = nil, root:, at: "", cache_control: ASK, reload: false)
        @app = app || ->(_) { [404, {"content-type" => "text/plain"}, ["Not Found\n"]] }
        @folder = Folder.new(root, at.chomp("/"))
        @cache_control = cache_control
        @reload = reload
      end

      # Rack's interface.
      #
      # @return [Array] Rack's response
      def call(env)
        verb = env["REQUEST_METHOD"]
        asset = find(env["PATH_INFO"]) if verb == "GET" || verb == "HEAD"
        asset ? answer(env, asset, verb == "HEAD") : @app.call(env)
      end

      # @param name [String] of a file in the folder: "app.css", "images/logo.png"
      # @return [String] the path with the file's digest: "/app-5f2c81d0a3b4c6e7.css"
      # @raise [ArgumentError] if there is no such file
      def asset_path(name)
        @folder.refresh if @reload
        @folder.fingerprinted(name)
      end

      def _around(app) = dup.tap { |copy| copy.instance_variable_set(:@app, app) }

      private

      def find(path)
        asset = @folder.find(path)
        return asset if asset || !@reload
        @folder.refresh
        @folder.find(path)
      end

      def answer(env, asset, head)
        file = env["HTTP_RANGE"] ? asset.file : asset.file_for(env["HTTP_ACCEPT_ENCODING"])
        headers = headers_of(asset, file)
        return [304, headers, []] if current?(env, file)
        headers["content-type"] = asset.content_type
        headers["content-encoding"] = file.coding if file.coding
        part = range(env, file)
        return [416, {"content-range" => "bytes */#{file.size}"}, []] if part == :none
        whole(headers, file, head, part)
      end

      def headers_of(asset, file)
        headers = {
          "cache-control" => asset.fingerprinted? ? FOREVER : @cache_control, "etag" => file.etag,
          "last-modified" => file.modified,
          "x-content-type-options" => "nosniff", "accept-ranges" => "bytes"
        }
        headers["vary"] = "accept-encoding" if asset.codings?
        headers
      end

      # If-None-Match takes precedence over If-Modified-Since (RFC 9110, section 13.2.2).
      def current?(env, file)
        return HTTP::EntityTag.match?(env["HTTP_IF_NONE_MATCH"], file.etag) if env["HTTP_IF_NONE_MATCH"]
        env["HTTP_IF_MODIFIED_SINCE"] == file.modified
      end

      # @return [Range, Symbol, nil] nil for the whole file, also for several ranges, or if If-Range names another
      #   version; :none if nothing is in the range
      def range(env, file)
        header = env["HTTP_RANGE"]
        return unless header&.match?(ONE_RANGE) && env["REQUEST_METHOD"] == "GET"
        return if env["HTTP_IF_RANGE"] && env["HTTP_IF_RANGE"] != file.etag && env["HTTP_IF_RANGE"] != file.modified
        ranges = Rack::Utils.get_byte_ranges(header, file.size) or return
        ranges.first || :none
      end

      def whole(headers, file, head, part)
        headers["content-range"] = "bytes #{part.begin}-#{part.end}/#{file.size}" if part
        headers["content-length"] = (part ? part.size : file.size).to_s
        [part ? 206 : 200, headers, head ? [] : body(file, part)]
      end

      # A small file is read at once, which is cheaper than a body object, and lets the server's cache of public
      # responses keep it.
      def body(file, part)
        return Rack::Files::BaseIterator.new(file.path, [part], {}) if part
        # The server can send it by its path, without reading it
        return Rack::Files::Iterator.new(file.path, [0..file.size - 1], {}) if file.size > SMALL
        bytes = File.binread(file.path)
        (bytes.bytesize == file.size) ? [bytes] : raise(Error, "#{file.path} has changed while it was served")
      end
    end

    class Settings
      # @!attribute public_folder
      #   @return [String, nil] the folder to serve ({Static}); by default "public" in {#root}, if it exists. nil: none
      setting(:public_folder,
        ->(settings) { File.join(settings.root, "public").then { |path| path if File.directory?(path) } }) do |value|
        "must be a folder" unless value.nil? || File.directory?(value)
      end

      # @!attribute static
      #   @return [Static, nil] serves the {#public_folder}, created at boot; nil if there is none
      setting(:static)
    end
  end
end
