# frozen_string_literal: true

require "tilt"
require "tilt/erubi"
require_relative "engine"
require_relative "slim_and_haml"

module Pelton
  module Web
    class Templates
      # A template file, compiled to methods of the view class: one for each set of local names.
      # @private
      class Template
        # A template usually gets a few sets of local names. More come from names made from data.
        VARIANTS = 50
        UNESCAPED = %w[txt text].freeze
        NONE = [].freeze

        attr_reader :name, :format, :file

        def initialize(name, format, file, view_class)
          @name = name
          @format = format
          @file = file
          @view_class = view_class
          @methods = {}
        end

        # Appends the rendered text to the view's output.
        def append(view, locals, &block)
          compile unless @source
          return view.__send__(@strict, **locals, &block) if @strict
          view.__send__(@methods[locals.empty? ? NONE : locals.keys] || define(locals.keys), locals, &block)
        end

        def render(view, locals, &block) = view._collect { append(view, locals, &block) }

        # Compiles it for the locals that a call is most likely to pass.
        def compile
          @source ||= load
          return @strict ||= define(NONE) if @source.fixed_locals?
          define(NONE)
          define([local]) if local
          self
        end

        # @return [Symbol, nil] the local that a collection's partial gets: "posts/_post" has `post`
        def local = @local ||= name[%r{(?:\A|/)_([a-z]\w*)\z}, 1]&.to_sym

        private

        def load
          type = (File.extname(file) == ".erb") ? Tilt::ErubiTemplate : Tilt[file]
          escape = !UNESCAPED.include?(format)
          options =
            if type == Tilt::ErubiTemplate then {engine_class: Engine, escape: escape, freeze: true}
            elsif SlimAndHaml === type then SlimAndHaml.options(escape)
            end
          @appends = !options.nil?
          type.new(file, 1, extract_fixed_locals: true, default_encoding: "UTF-8", **options.to_h)
        end

        def define(keys)
          return @methods[keys] if @methods.key?(keys)
          if @methods.size >= VARIANTS
            raise ConfigurationError, "#{name} was rendered with #{VARIANTS} different sets of locals: pass changing " \
              "names in one local, as a Hash"
          end
          unless keys.all? { |key| key.is_a?(Symbol) && key.match?(/\A[a-z_]\w*\z/) }
            raise ArgumentError, "the names of locals are Symbols such as :post, not " \
              "#{keys.reject { |key| key.is_a?(Symbol) }.first(3).inspect}"
          end
          @methods[keys.dup.freeze] = method_for(keys)
        end

        def method_for(keys)
          # "a/b" and "a_b" are two templates
          method = :"_#{name.gsub(/\W/, "_")}_#{format}_#{object_id}_#{@methods.size}"
          if @appends
            @view_class.define_method(method, @source.compiled_method(keys.sort, @view_class))
          else
            source = @source
            @view_class.define_method(method) do |locals = {}, **strict, &block|
              @_out << source.render(self, strict.empty? ? locals : strict, &block)
            end
          end
          @view_class.__send__(:private, method)
          method
        end
      end
    end
  end
end
