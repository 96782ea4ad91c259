# frozen_string_literal: true

require "rack/files"
require_relative "../request/uploads"

module Pelton
  module Web
    class Controller
      # `send_file`, `send_data`, and the files that clients have sent.
      module Files
        # What a browser may show: it runs nothing that such a file contains.
        SHOWN = %r{\A(?:image/(?!svg)[\w.+-]+|audio/[\w.+-]+|video/[\w.+-]+|text/plain|application/pdf)(?:;|\z)}
        private_constant :SHOWN

        private

        # @return [Uploads] where files are kept that clients have sent: `settings.uploads`
        # @raise [ConfigurationError] the folder is in the public one, where anybody could open them
        def uploads = settings.uploads.outside(settings.public_folder)

        # Answers with a file that {#uploads} has kept. The browser takes it for what `type` says, and for nothing else. `disposition: "inline"`
        # holds for images, sound, video, plain text and PDF; all others are saved, as HTML and SVG would be run as pages of this site.
        #
        # @param key [String] which {Uploads#keep} has given
        # @param type [String] as {Params::Upload#type} said when it came
        # @param filename [String, nil] the name for the client
        # @param disposition [String] "attachment": it is saved, "inline": it may be shown
        # @raise [NotFound] there is no such file
        def send_upload(key, type: "application/octet-stream", filename: nil, disposition: "attachment")
          send_file(uploads.path(key), type: type, filename: filename || File.basename(key), disposition: SHOWN.match?(type) ? disposition : "attachment")
        end

        # Answers with a file. Ranges and If-Modified-Since are obeyed; Pelton's server sends a whole file by the system's sendfile.
        #
        # @param path [String] of the file; relative to `root:`, where that is given
        # @param root [String, nil] the folder that the file must be in, also when its path is what a client has asked for
        # @param type [String, nil] the content-type; otherwise by the file's name
        # @param filename [String, nil] the name for the client; otherwise the file's
        # @param disposition [String, nil] "attachment": it is saved, "inline": it may be shown
        # @raise [NotFound] there is no such file, it is outside of `root:`, or a part of its path below `root:` begins with a dot
        def send_file(path, root: nil, type: nil, filename: nil, disposition: "attachment")
          path = existing(path.to_s, root)
          env = ranges_hold?(File.mtime(path)) ? @env : @env.except("HTTP_RANGE")
          status, headers, body = Rack::Files.new(nil).serving(Rack::Request.new(env), path)
          response.headers.update(headers)
          answer(body, status: status)
          describe(type || Rack::Mime.mime_type(File.extname(path)), filename || File.basename(path), disposition) if status == 200 || body.is_a?(Rack::Files::BaseIterator) && body.ranges.one?
        end

        # Answers with bytes.
        #
        # @param data [String]
        # @param type [String, nil] the content-type; otherwise by the file's name
        # @param filename [String, nil] the name for the client
        # @param disposition [String, nil] "attachment": it is saved, "inline": it may be shown
        def send_data(data, type: nil, filename: nil, disposition: "attachment", status: nil)
          answer(data, status: status)
          describe(type || Rack::Mime.mime_type(File.extname(filename.to_s)), filename, disposition)
        end

        def existing(path, root)
          raise NotFound if path.include?("\0")
          path = File.realpath(path, root)
          inside = root.nil? || path.delete_prefix!("#{folder = File.realpath(root).chomp("/")}/") && !hidden?(path) && (path = "#{folder}/#{path}")
          (inside && File.file?(path) && File.readable?(path)) ? path : raise(NotFound)
        rescue SystemCallError
          raise NotFound
        end

        # What begins with a dot is nobody's business: `.git/config`, `.env`.
        def hidden?(path) = path.split("/").any? { |part| part.start_with?(".") }

        # Whether the file is the one of which the client has a part.
        def ranges_hold?(changed) = @env["HTTP_IF_RANGE"].then { |time| time.nil? || time == changed.httpdate }

        # A client must not take a text for a program.
        def describe(type, filename, disposition)
          response.headers["content-type"] = type
          response.headers["x-content-type-options"] = "nosniff"
          response.headers["content-disposition"] = filename ? "#{disposition}; #{parameters(filename.to_s)}" : disposition if disposition
          nil
        end

        # RFC 6266, RFC 8187: an old client gets ASCII.
        def parameters(filename)
          filename = filename.dup.force_encoding(Encoding::UTF_8).scrub("_").gsub(/[[:cntrl:]]/, "_")
          plain = filename.gsub(/[^\x20-\x7e]|["\\%]/, "_")
          return "filename=\"#{plain}\"" if plain == filename
          "filename=\"#{plain}\"; filename*=UTF-8''#{filename.b.gsub(/[^A-Za-z0-9.~_-]/n) { |byte| format("%%%02X", byte.ord) }}"
        end
      end
    end
  end
end
