# frozen_string_literal: true

module Pelton
  module Web
    class Controller
      # `respond_to`: the same thing in the format that the client wants.
      #
      #     respond_to do |format|
      #       format.html { render "posts/show" }
      #       format.json { render json: @post.to_h }
      #     end
      #
      # The path's ending decides (`/posts/1.json`), otherwise the Accept header. The first format is for clients that take any.
      module Negotiation
        # The formats of an action, with their blocks.
        class Formats
          # @return [Hash{String => Array(String, Proc)}] content-types and blocks by the ending of a path
          attr_reader :blocks

          def initialize
            @blocks = {}
          end

          # @param ending [Symbol, String] of paths, without a dot: `:csv`
          # @param type [String] the content-type that clients ask for
          # @raise [ConfigurationError] nobody knows the content-type
          def on(ending, type: Rack::Mime::MIME_TYPES[".#{ending}"], &block)
            @blocks[ending.to_s] = [type || raise(ConfigurationError, "respond_to: give on(#{ending.inspect}, type: ...)"), block]
            nil
          end

          %i[html json xml txt csv atom rss ics js pdf].each do |ending|
            define_method(ending) { |&block| on(ending, &block) }
          end
          alias_method :text, :txt

          # For clients that take nothing else of what there is.
          def any(&block) = @any = block

          def other = @any
        end

        private

        # Calls the block of the format that the client wants. A format without a block is the action's own way of answering, such as its
        # template.
        #
        # @yieldparam format [Formats]
        # @return [Object] the block's value
        # @raise [NotAcceptable] the client wants another format
        def respond_to
          formats = Formats.new
          yield formats
          @format, block = chosen(formats.blocks) || (formats.other && [nil, formats.other]) || raise(NotAcceptable, "This address has the formats #{formats.blocks.keys.join(", ")}.")
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
