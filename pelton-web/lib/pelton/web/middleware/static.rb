# frozen_string_literal: true

require "rack/files"
require_relative "../settings"
require_relative "static/folder"

module Pelton
  module Web
    # Rack middleware that answers with the files of a folder; requests for anything else go on to the application. It can be used
    # without the framework:
    #
    #     use Pelton::Web::Static, root: "public"
    #
    # A path is looked up among the files that the folder has, and is never made a path of the file system. So no encoding of
    # `..` leads out of it. Files whose names begin with a dot, and links that lead out of the folder, are not served.
    #
    # - Each file has a second name, with its digest in it ({#asset_path}), under which clients keep it for a year and never ask again.
    #   Under its own name clients ask each time, and get a 304.
    # - If there is a file with the same name and `.br` or `.gz` behind it, clients that take that coding get it instead.
    # - A single Range is answered; the file leaves by sendfile where the server can do that, as Pelton's does.
    class Static
      FOREVER = "public, max-age=31536000, immutable"
      ASK = "public, no-cache" # may be kept, but is used only after asking
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

      # @param app [#call, nil] what gets the requests for anything else; nil: they are answered by 404
      # @param root [String] the folder
      # @param at [String] the beginning of the paths: "/assets"
      # @param cache_control [String] of files under their own names
      # @param reload [Boolean] whether to look for files that were added, for development. Files that have changed are always noticed
      # @raise [ConfigurationError] there is no such folder
      def initialize(app = nil, root:, at: "", cache_control: ASK, reload: false)
        @app = app || ->(_) { [404, {"content-type" => "text/plain"}, ["Not Found\n"]] }
        @folder = Folder.new(root, at.chomp("/"))
        @cache_control = cache_control
        @reload = reload
      end

      # Rack's entry.
      #
      # @return [Array] Rack's response
      def call(env)
        verb = env["REQUEST_METHOD"]
        asset = find(env["PATH_INFO"]) if verb == "GET" || verb == "HEAD"
        asset ? answer(env, asset, verb == "HEAD") : @app.call(env)
      end

      # @param name [String] of a file in the folder: "app.css", "images/logo.png"
      # @return [String] the path with the file's digest in it: "/app-5f2c81d0a3b4c6e7.css"
      # @raise [ArgumentError] there is no such file
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
          "cache-control" => asset.fingerprinted? ? FOREVER : @cache_control, "etag" => file.etag, "last-modified" => file.modified,
          "x-content-type-options" => "nosniff", "accept-ranges" => "bytes"
        }
        headers["vary"] = "accept-encoding" if asset.codings?
        headers
      end

      # If-None-Match counts before If-Modified-Since (RFC 9110, section 13.2.2).
      def current?(env, file)
        return HTTP::EntityTag.match?(env["HTTP_IF_NONE_MATCH"], file.etag) if env["HTTP_IF_NONE_MATCH"]
        env["HTTP_IF_MODIFIED_SINCE"] == file.modified
      end

      # @return [Range, Symbol, nil] nil: all of it, also for several ranges, and where If-Range names another version; :none: there
      #   is nothing in that range
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

      # A small file is read at once: that costs less than a body of its own, and the server's cache of public responses can keep it.
      def body(file, part)
        return Rack::Files::BaseIterator.new(file.path, [part], {}) if part
        return Rack::Files::Iterator.new(file.path, [0..file.size - 1], {}) if file.size > SMALL # a server that sees its path can send it without reading it
        bytes = File.binread(file.path)
        (bytes.bytesize == file.size) ? [bytes] : raise(Error, "#{file.path} has changed while it was served")
      end
    end

    class Settings
      # @!attribute public_folder
      #   @return [String, nil] the folder whose files are served ({Static}): "public" in {#root} by default, if there is one. nil: none
      setting(:public_folder, ->(settings) { File.join(settings.root, "public").then { |path| path if File.directory?(path) } }) do |value|
        "must be a folder" unless value.nil? || File.directory?(value)
      end

      # @!attribute static
      #   @return [Static, nil] what serves the {#public_folder}, made when the application boots; nil: there is none
      setting(:static)
    end
  end
end
