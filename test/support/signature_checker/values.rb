# frozen_string_literal: true

class SignatureChecker
  # Whether a value is of a type. It calls no method of the value that the program may have defined, except respond_to?.
  class Values
    KIND = Kernel.instance_method(:is_a?)
    CLASS = Kernel.instance_method(:class)
    RESPOND = Kernel.instance_method(:respond_to?)
    PAIRS = Hash.instance_method(:to_a)
    LONGEST = 50 # elements of a list that are compared

    class << self
      def kind?(value, type) = KIND.bind_call(value, type)

      # @return [Module, nil] nil: it is not loaded
      def constant(path)
        path.split("::").inject(Object) do |within, name|
          within.const_get(name) if within&.const_defined?(name, within.equal?(Object)) && !within.autoload?(name)
        end
      end

      # @return [String] a value's class, and of what is short or has parts a little more
      def describe(value, depth = 2)
        case value
        when nil, true, false, Symbol then value.inspect
        when Module then "the class #{value.inspect}"
        when Array, Hash
          return "#{value.class}[...]" if depth == 0
          parts =
            if value.is_a?(Hash)
              value.first(20).map { |key, one| "#{describe(key, 0)} => #{describe(one, depth - 1)}" }
            else
              value.map { |one| describe(one, depth - 1) }
            end
          "#{value.class}[#{parts.uniq.first(20).join(", ")}]"
        when Range then "a Range of #{describe(value.begin)} to #{describe(value.end)}"
        else "a #{name(CLASS.bind_call(value))}"
        end
      end

      private

      def name(type) = type.name || "#{name(type.superclass)} without a name"
    end

    # @param builder [RBS::DefinitionBuilder]
    def initialize(builder)
      @builder = builder
      @constants, @interfaces, @aliases = {}, {}, {}
    end

    def fit?(value, type, receiver)
      case type
      when RBS::Types::Bases::Any, RBS::Types::Bases::Top, RBS::Types::Bases::Void, RBS::Types::Variable then true
      when RBS::Types::Bases::Bool then true.equal?(value) || false.equal?(value)
      when RBS::Types::Bases::Nil then nil.equal?(value)
      when RBS::Types::Bases::Bottom then false
      when RBS::Types::Bases::Class then kind?(value, Module)
      when RBS::Types::Bases::Self then own?(value, receiver)
      when RBS::Types::Bases::Instance then kind?(value, receiver)
      when RBS::Types::ClassInstance then instance?(value, type, receiver)
      when RBS::Types::ClassSingleton then (wanted = class_of(type)) && kind?(value, Module) && !!(value <= wanted)
      when RBS::Types::Interface then interface(type).all? { |name| RESPOND.bind_call(value, name) }
      when RBS::Types::Literal then CLASS.bind_call(value) == type.literal.class && value == type.literal
      when RBS::Types::Union then type.types.any? { |one| fit?(value, one, receiver) }
      when RBS::Types::Intersection then type.types.all? { |one| fit?(value, one, receiver) }
      when RBS::Types::Optional then nil.equal?(value) || fit?(value, type.type, receiver)
      when RBS::Types::Alias then fit?(value, expand(type), receiver)
      when RBS::Types::Tuple
        kind?(value, Array) && value.size == type.types.size &&
          value.zip(type.types).all? { |one, of| fit?(one, of, receiver) }
      when RBS::Types::Record then record?(value, type, receiver)
      when RBS::Types::Proc then kind?(value, Proc)
      else raise ArgumentError, "a type of an unknown kind: #{type}"
      end
    end

    private

    def kind?(value, type) = KIND.bind_call(value, type)

    # `self`: the receiver, or another one of its class.
    def own?(value, receiver)
      return true if value.equal?(receiver)
      kind?(receiver, Module) ? kind?(value, Module) && !!(value <= receiver) : kind?(value, CLASS.bind_call(receiver))
    end

    def instance?(value, type, receiver)
      wanted = class_of(type)
      return false unless wanted && kind?(value, wanted)
      case type.name.to_s
      when "::Array" then value.first(LONGEST).all? { |one| fit?(one, type.args[0], receiver) }
      when "::Set" then value.first(LONGEST).all? { |one| fit?(one, type.args[0], receiver) }
      when "::Range" then [value.begin, value.end].all? { |one| fit?(one, type.args[0], receiver) }
      when "::Hash"
        PAIRS.bind_call(value).first(LONGEST).all? do |key, one|
          fit?(key, type.args[0], receiver) && fit?(one, type.args[1], receiver)
        end
      else true
      end
    end

    def record?(value, type, receiver)
      return false unless kind?(value, Hash) && (value.keys - type.fields.keys).empty?
      type.fields.all? { |key, of| value.key?(key) && fit?(value[key], of, receiver) }
    end

    def class_of(type) = @constants[type.name] ||= self.class.constant(type.name.to_s.delete_prefix("::"))

    def interface(type) = @interfaces[type.name] ||= @builder.build_interface(type.name).methods.keys

    def expand(type)
      @aliases[type] ||=
        if @builder.respond_to?(:expand_alias2)
          @builder.expand_alias2(type.name, type.args)
        else
          @builder.expand_alias(type.name)
        end
    end
  end
end
