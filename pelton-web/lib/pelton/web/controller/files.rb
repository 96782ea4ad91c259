# frozen_string_literal: true

require "rack/files"
require_relative "../request/uploads"

module Pelton
  module Web
    class Controller
      # `send_file`, `send_data`, and uploads.
      module Files
        # Types that a browser may show: it runs nothing that they contain.
        SHOWN = %r{\A(?:image/(?!svg)[\w.+-]+|audio/[\w.+-]+|video/[\w.+-]+|text/plain|application/pdf)(?:;|\z)}
        private_constant :SHOWN

        private

        # @return [Uploads] the store for uploaded files, `settings.uploads`
        # @raise [ConfigurationError] if its folder is in the public one, where anyone could open the files
        def uploads = settings.uploads.outside(settings.public_folder)

        # Sends a file that {#uploads} keeps. The browser must take it for the given type. `disposition: "inline"`
        # applies to images, sound, video, plain text and PDF; all other files are downloads, since HTML and SVG would
        # run as pages of this site.
        #
        # @param key [String] as {Uploads#keep} returned it
        # @param type [String] as {Params::Upload#type} returned it
        # @param filename [String, nil] the name for the client
        # @param disposition [String] "attachment" for a download, "inline" to show it
        # @raise [NotFound] if there is no such file
        def send_upload(key, type: "application/octet-stream", filename: nil, disposition: "attachment")
          send_file(uploads.path(key), type: type, filename: filename || File.basename(key),
            disposition: SHOWN.match?(type) ? disposition : "attachment")
        end

        # Sends a file, with support for Range and If-Modified-Since. Pelton's server sends whole files by sendfile.
        #
        # @param path [String] relative to `root:`, if that is given
        # @param root [String, nil] the folder that must contain the file; needed for a path from the client
        # @param type [String, nil] the content-type; by default from the file's name
        # @param filename [String, nil] the name for the client; by default the file's
        # @param disposition [String, nil] "attachment" for a download, "inline" to show it
        # @raise [NotFound] if there is no such file, it is outside of `root:`, or a part of its path below `root:`
        #   begins with a dot
        def send_file(path, root: nil, type: nil, filename: nil, disposition: "attachment")
          path = existing(path.to_s, root)
          env = ranges_hold?(File.mtime(path)) ? @env : @env.except("HTTP_RANGE")
          status, headers, body = Rack::Files.new(nil).serving(Rack::Request.new(env), path)
          response.headers.update(headers)
          answer(body, status: status)
          if status == 200 || body.is_a?(Rack::Files::BaseIterator) && body.ranges.one?
            describe(type || Rack::Mime.mime_type(File.extname(path)), filename || File.basename(path), disposition)
          end
        end

        # Sends bytes.
        #
        # @param data [String]
        # @param type [String, nil] the content-type; by default from the file's name
        # @param filename [String, nil] the name for the client
        # @param disposition [String, nil] "attachment" for a download, "inline" to show them
        def send_data(data, type: nil, filename: nil, disposition: "attachment", status: nil)
          answer(data, status: status)
          describe(type || Rack::Mime.mime_type(File.extname(filename.to_s)), filename, disposition)
        end

        def existing(path, root)
          raise NotFound if path.include?("\0")
          path = File.realpath(path, root)
          inside = root.nil? || path.delete_prefix!("#{folder = File.realpath(root).chomp("/")}/") && !hidden?(path) &&
            (path = "#{folder}/#{path}")
          (inside && File.file?(path) && File.readable?(path)) ? path : raise(NotFound)
        rescue SystemCallError
          raise NotFound
        end

        # Files and folders such as `.git/config` and `.env` are private.
        def hidden?(path) = path.split("/").any? { |part| part.start_with?(".") }

        # Whether the client's part is of the current file.
        def ranges_hold?(changed) = @env["HTTP_IF_RANGE"].then { |time| time.nil? || time == changed.httpdate }

        # Browsers must not take text for a script.
        def describe(type, filename, disposition)
          response.headers["content-type"] = type
          response.headers["x-content-type-options"] = "nosniff"
          if disposition
            response.headers["content-disposition"] =
              filename ? "#{disposition}; #{parameters(filename.to_s)}" : disposition
          end
          nil
        end

        # RFC 6266 and RFC 8187: old clients get ASCII.
        def parameters(filename)
          filename = filename.dup.force_encoding(Encoding::UTF_8).scrub("_").gsub(/[[:cntrl:]]/, "_")
          plain = filename.gsub(/[^\x20-\x7e]|["\\%]/, "_")
          return "filename=\"#{plain}\"" if plain == filename
          "filename=\"#{plain}\"; " \
          "filename*=UTF-8''#{filename.b.gsub(/[^A-Za-z0-9.~_-]/n) { |byte| format("%%%02X", byte.ord) }}"
        end
      end
    end
  end
end
