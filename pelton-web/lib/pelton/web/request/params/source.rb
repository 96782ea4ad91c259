# frozen_string_literal: true

require "json"

module Pelton
  module Web
    class Params
      # Reads a request's query and its form or JSON document, within the limits of `settings.params`.
      module Source
        class << self
          # @return [Hash{String => Object}] Strings, Arrays, Hashes and {Upload}s by name, and what JSON contains
          # @raise [BadRequest] if a limit is exceeded, or something cannot be parsed or is not UTF-8
          # @asynchronous while the body is still arriving
          def read(request)
            query = request.query_string
            values = query.empty? ? {} : request.query
            if request.body?
              body = request.json? ? request.json : request.form
              values = values.merge(body.is_a?(Hash) ? body : {"_json" => body})
            end
            values.empty? ? {} : clean(values)
          end

          private

          def clean(value)
            case value
            when String then text(value)
            when Hash then value.key?(:tempfile) ? Upload.new(value) : value.to_h do |name, one|
              [text(name), clean(one)]
            end
            when Array then value.map { |one| clean(one) }
            else value
            end
          end

          # A part of a form may declare another encoding.
          def text(value)
            value = value.encode(Encoding::UTF_8) unless [Encoding::UTF_8, Encoding::BINARY].include?(value.encoding)
            value = value.dup.force_encoding(Encoding::UTF_8) if value.encoding == Encoding::BINARY
            raise BadRequest, "A parameter is not UTF-8." unless value.valid_encoding?
            raise BadRequest, "A parameter contains NUL." if value.include?("\0")
            value
          rescue EncodingError
            raise BadRequest, "A parameter is not in the encoding that it names."
          end
        end
      end
    end
  end
end
