# frozen_string_literal: true

class SignatureChecker
  # One form of a declaration: `(Integer max, ?timeout: seconds?) -> String`.
  class Form
    # @param type [RBS::MethodType]
    # @param values [Values]
    def initialize(type, values)
      @type, @values = type, values
      @function = type.type
    end

    def to_s = @type.to_s

    # @return [String, nil] why a call does not have this form
    def refuse(receiver, arguments, keywords, block)
      refuse_block(block) || refuse_arguments(receiver, arguments, keywords)
    end

    # @return [String, nil] why a call of this form does not return this
    def refuse_result(receiver, result)
      type = @function.return_type
      "it returns #{Values.describe(result)}" unless @values.fit?(result, type, receiver)
    end

    private

    def refuse_block(block)
      return ("there is a block" if block) unless @type.block
      "there is no block" if @type.block.required && !block
    end

    def refuse_arguments(receiver, arguments, keywords)
      takes_keywords = @function.respond_to?(:has_keyword?) && @function.has_keyword?
      arguments, keywords = [*arguments, keywords], {} if !takes_keywords && !keywords.empty?
      refuse_positional(receiver, arguments) || refuse_keywords(receiver, keywords)
    end

    def refuse_positional(receiver, arguments)
      first, last = @function.required_positionals, @function.trailing_positionals
      optional, rest = @function.optional_positionals, @function.rest_positionals
      least = first.size + last.size
      if arguments.size < least || !rest && arguments.size > least + optional.size
        return "there are #{arguments.size} arguments"
      end
      middle = optional.take(arguments.size - least)
      more = [rest] * (arguments.size - least - middle.size)
      pairs = arguments.zip([*first, *middle, *more, *last])
      wrong = pairs.index { |argument, parameter| !@values.fit?(argument, parameter.type, receiver) }
      "argument #{wrong + 1} is #{Values.describe(arguments[wrong])}" if wrong
    end

    def refuse_keywords(receiver, keywords)
      required, optional, rest = @function.required_keywords, @function.optional_keywords, @function.rest_keywords
      missing = required.keys - keywords.keys
      return "there is no #{missing.first}:" unless missing.empty?
      parameters = keywords.keys.to_h { |name| [name, required[name] || optional[name] || rest] }
      unknown = parameters.keys.reject { |name| parameters[name] }
      return "there is #{unknown.first}:" unless unknown.empty?
      wrong = parameters.keys.reject { |name| @values.fit?(keywords[name], parameters[name].type, receiver) }
      "#{wrong.first}: is #{Values.describe(keywords[wrong.first])}" unless wrong.empty?
    end
  end
end
