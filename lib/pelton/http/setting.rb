# frozen_string_literal: true

module Pelton
  module HTTP
    # A setting of `pelton serve` that has one value: see {SETTINGS}. Its name is the method of the configuration file;
    # the flag and the variable are derived from it.
    # @private
    class Setting
      # Which values a kind takes, and the word that stands for one in the help.
      Kind = Struct.new(:placeholder, :expected, :convert, keyword_init: true)

      WORDS = {"1" => true, "true" => true, "yes" => true, "on" => true, "0" => false, "false" => false, "no" => false,
               "off" => false}.freeze
      UNITS = {"" => 0, "K" => 10, "M" => 20, "G" => 30}.freeze
      SIZE = /\A(\d+)([KMG]?)B?\z/i
      HOST = /\A(?!-)[a-z0-9-]+(?:\.[a-z0-9-]+)+\z/
      TOPICS = %r{\A(rediss?|postgres(ql)?)://}
      private_constant :Kind, :WORDS, :UNITS, :SIZE, :HOST, :TOPICS

      class << self
        private

        def number(value)
          value = Integer(value, 10, exception: false) || Float(value) if value.is_a?(String)
          return value if value.nil? || value.is_a?(Numeric) && value >= 0
          raise ArgumentError
        end

        def count(value)
          value = Integer(value, 10) if value.is_a?(String)
          return value if value.is_a?(Integer) && value >= 0
          raise ArgumentError
        end

        def bytes(value)
          digits, unit = value.match(SIZE)&.captures if value.is_a?(String)
          digits ? digits.to_i << UNITS.fetch(unit.upcase) : number(value)
        end

        # Text has a colon between two, as PATH has.
        def folders(value)
          value = value.split(File::PATH_SEPARATOR) if value.is_a?(String)
          return value if value.nil?
          paths = value.is_a?(Array) && value.all? { |path| path.respond_to?(:to_path) || path.is_a?(String) }
          raise ArgumentError unless paths
          value.map(&:to_s)
        end

        def map(value)
          value = value.split(",").map { |pair| pair.split("=", 2) } if value.is_a?(String)
          return value if value.nil?
          value = value.to_h { |prefix, path| [prefix.to_s, path.to_s] }
          raise ArgumentError if value.any? { |prefix, path| !prefix.start_with?("/") || path.empty? }
          value
        rescue TypeError, NoMethodError
          raise ArgumentError
        end

        def switch(value)
          return WORDS.fetch(value.downcase) if value.is_a?(String)
          return value if [true, false, nil].include?(value)
          raise ArgumentError
        end

        def names(value)
          return if value.nil?
          names = value.to_s.downcase.split(/[\s,]+/).reject(&:empty?).uniq
          raise ArgumentError unless names.any? && names.all? { |name| name.match?(HOST) && name.match?(/[a-z]/) }
          names
        end

        def matching(value, pattern)
          raise ArgumentError unless value.to_s.match?(pattern)
          value.to_s
        end
      end

      # A converter returns the value that counts, or raises ArgumentError or KeyError. Numbers and switches may be
      # text, as ENV has them.
      KINDS = {
        text: Kind.new(placeholder: "TEXT", convert: ->(value) { value }),
        file: Kind.new(placeholder: "FILE", convert: ->(value) { value }),
        folders: Kind.new(placeholder: "FOLDERS", expected: "one or more folders, such as /srv/files:/srv/more",
          convert: ->(value) { folders(value) }),
        map: Kind.new(placeholder: "URLS", expected: "URLs and their folders, such as /internal/=/srv/files",
          convert: ->(value) { map(value) }),
        address: Kind.new(placeholder: "ADDRESS", convert: ->(value) { value }),
        path: Kind.new(placeholder: "PATH", expected: "a path such as /up", convert: ->(value) {
          matching(value,
            %r{\A/})
        }),
        topics: Kind.new(placeholder: "URL", expected: "redis://..., rediss://... or postgres://...",
          convert: ->(value) { matching(value, TOPICS) }),
        names: Kind.new(placeholder: "NAMES",
          expected: "names of hosts such as \"example.com, www.example.com\", without wildcards",
          convert: ->(value) { names(value) }),
        switch: Kind.new(expected: "true or false", convert: ->(value) { switch(value) }),
        count: Kind.new(placeholder: "COUNT", expected: "an integer of 0 or more", convert: ->(value) { count(value) }),
        number: Kind.new(placeholder: "NUMBER", expected: "a number of 0 or more",
          convert: ->(value) { number(value) }),
        seconds: Kind.new(placeholder: "SECONDS", expected: "a number of 0 or more",
          convert: ->(value) { number(value) }),
        bytes: Kind.new(placeholder: "BYTES", expected: "a number of 0 or more, or one with K, M or G, such as 64M",
          convert: ->(value) { bytes(value) })
      }.freeze
      private_constant :KINDS

      # @return [Symbol]
      attr_reader :name

      # @return [Array<String>, nil] all values that a text may have
      attr_reader :choices

      # @return [Symbol] a key of KINDS
      attr_reader :kind

      # @return [Object, nil] the value unless it is set; nil: none
      attr_reader :default

      # @return [Symbol] what takes the value: :server, :master or :program
      attr_reader :taken_by

      # @return [String] for the help and the guide
      attr_reader :text

      # @param short [String, nil] a flag of one letter
      # @param choices [Array<String>, nil] the values of a text
      # @param option [Symbol, nil] the option's name where that is another than the setting's
      def initialize(name, kind, default, text, taken_by:, short: nil, choices: nil, option: nil)
        @name = name
        @kind = kind
        @default = default
        @text = text
        @taken_by = taken_by
        @short = short
        @choices = choices
        @option = option
        freeze
      end

      # @return [Symbol] the name of the option that takes the value
      def option = @option || @name

      # @return [String] the variable of the environment
      def variable = "PELTON_#{@name.upcase}"

      # @return [Array<String>] for OptionParser
      def flags
        long = @name.to_s.tr("_", "-")
        [*@short, (@kind == :switch) ? "--[no-]#{long}" : "--#{long} #{KINDS.fetch(@kind).placeholder}"]
      end

      # @return [String] the default as the help and the guide show it
      def shown_default
        case @default
        when nil then "none"
        when true, false then @default ? "on" : "off"
        when Integer, Float then shown_number
        else @default.to_s
        end
      end

      # @return [Object, nil] the value as its kind has it
      # @raise [ArgumentError] the setting does not take such a value
      def convert(value)
        value = matching_choice(value) if @choices
        KINDS.fetch(@kind).convert.call(value)
      rescue ArgumentError, KeyError
        expected = @choices ? @choices.join(" or ") : KINDS.fetch(@kind).expected
        shown = ", not #{value.inspect}" unless @kind == :topics # it may have a password
        raise ArgumentError, "#{@name}: must be #{expected}#{shown}"
      end

      private

      # A Symbol reads as well in a configuration file.
      def matching_choice(value)
        raise ArgumentError unless @choices.include?(value.to_s)
        value.to_s
      end

      def shown_number
        return "#{@default} s" if @kind == :seconds
        return @default.to_s.gsub(/(?<=\d)(?=(\d{3})+\z)/, ",") unless @kind == :bytes
        (@default % 1024).zero? ? "#{@default / 1024} KB" : "#{@default} bytes"
      end
    end
  end
end
