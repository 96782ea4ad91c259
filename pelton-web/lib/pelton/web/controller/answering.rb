# frozen_string_literal: true

module Pelton
  module Web
    class Controller
      # `render` for text, HTML and JSON, and `head`. The `render` for templates, in another file, calls this one.
      module Answering
        # With Active Support, JSON.generate writes an object of ActiveModel as a text that names its class. Other
        # libraries' objects, such as Sequel's, have a `to_json` of their own, which may leave out columns.
        #
        # @return [Object] with Hashes in their places
        # @private
        def self._plain(value)
          return value unless Object.method_defined?(:as_json)
          case value
          when Hash then value.transform_values { |one| _plain(one) }
          when String, Symbol, Numeric, nil, true, false then value
          else
            return value.as_json if value.respond_to?(:serializable_hash)
            value.respond_to?(:to_ary) ? value.to_ary.map { |one| _plain(one) } : value
          end
        end

        private

        # Responds with text, HTML or JSON.
        #
        # @param plain [Object] text; `text:` is the same
        # @param html [String] sent unescaped: it must not contain user text, unless escaped
        # @param json [Object] converted by JSON.generate, objects of ActiveModel by their `as_json`; a String must be
        #   JSON already
        # @param status [Integer, Symbol] 201, :created
        # @param content_type [String, nil] by default that of the format
        # @raise [ArgumentError] if there is nothing to render
        def render(plain: NOTHING, text: plain, html: NOTHING, json: NOTHING, status: nil, content_type: nil)
          if !NOTHING.equal?(json)
            answer(json.is_a?(String) ? json : JSON.generate(Answering._plain(json)),
              type: content_type || "application/json", status: status)
          elsif !NOTHING.equal?(html)
            answer(html.to_s, type: content_type || "text/html; charset=utf-8", status: status)
          elsif !NOTHING.equal?(text)
            answer(text.to_s, type: content_type || "text/plain; charset=utf-8", status: status)
          else
            raise ArgumentError, "render: give plain:, html: or json:"
          end
        end

        # Responds with a status and headers, without a body.
        #
        # @param status [Integer, Symbol] 404, :not_found
        # @param headers [Hash] `location: "/"`
        def head(status, **headers)
          headers.each { |name, value| response.headers[name.to_s.tr("_", "-")] = value }
          answer([], status: status)
        end

        # Responds with a problem document (RFC 9457), or a page or text with the same content: see {Problem}.
        #
        def answer_problem(problem)
          status, headers, body = problem.response(@env)
          response.headers.update(headers)
          answer(body, status: status)
        end

        # Called with the action's name if it ends without a response.
        #
        # @raise [AnswerError]
        def answer_by_default(action)
          raise AnswerError, "#{self.class}##{action} has not answered: call render, head or redirect_to"
        end

        NOTHING = Object.new.freeze
        private_constant :NOTHING
      end
    end
  end
end
