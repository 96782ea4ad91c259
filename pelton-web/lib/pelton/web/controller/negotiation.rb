# frozen_string_literal: true

module Pelton
  module Web
    class Controller
      # `respond_to`: responds in the format that the client wants.
      #
      #     respond_to do |format|
      #       format.html { render "posts/show" }
      #       format.json { render json: @post.to_h }
      #     end
      #
      # The path's ending decides (`/posts/1.json`), or else the Accept header. Clients that take anything get the first
      # format.
      module Negotiation
        # An action's formats, with their blocks.
        class Formats
          # @return [Hash{String => Array(String, Proc)}] content-types and blocks by path ending
          attr_reader :blocks

          def initialize
            @blocks = {}
          end

          # @param ending [Symbol, String] of paths, without a dot: `:csv`
          # @param type [String] the content-type in Accept headers
          # @raise [ConfigurationError] if the content-type of the ending is unknown
          def on(ending, type: Rack::Mime::MIME_TYPES[".#{ending}"], &block)
            @blocks[ending.to_s] =
              [type || raise(ConfigurationError, "respond_to: give on(#{ending.inspect}, type: ...)"), block]
            nil
          end

          %i[html json xml txt csv atom rss ics js pdf].each do |ending|
            define_method(ending) { |&block| on(ending, &block) }
          end
          alias_method :text, :txt

          # For clients that accept none of the other formats.
          def any(&block) = @any = block

          # @return [Proc, nil] the block for formats without a block of their own
          def other = @any
        end

        private

        # Calls the block of the format that the client wants. A format without a block stands for the action's default,
        # such as its template.
        #
        # @yieldparam format [Formats]
        # @return [Object] the block's value
        # @raise [NotAcceptable] if the client accepts none of the formats
        def respond_to
          formats = Formats.new
          yield formats
          @format, block = chosen(formats.blocks) || (formats.other && [nil, formats.other]) || raise(NotAcceptable,
            "This address has the formats #{formats.blocks.keys.join(", ")}.")
          block&.call
        end

        def chosen(blocks)
          ending = @captures["format"]
          return blocks[ending]&.then { |_, block| [ending.to_sym, block] } if ending
          vary("accept") if blocks.size > 1
          types = blocks.map { |one, (type, _)| [type, one] }.to_h
          type = Accept.best(@env["HTTP_ACCEPT"], types.keys)
          types[type]&.then { |one| [one.to_sym, blocks.fetch(one).last] }
        end

        def vary(name)
          headers = response.headers
          return headers.put("vary", name) unless headers.key?("vary")
          names = Array(headers["vary"]).join(", ").split(/,\s*/)
          headers.put("vary", [*names, name].join(", ")) unless names.any? { |one| one.casecmp?(name) || one == "*" }
        end
      end
    end
  end
end
