# frozen_string_literal: true

require "yaml"

module Mutations
  # The mutants that cannot change what the product does, each with the reason (equivalent.yml). They are known by their
  # lines, not by the lines' numbers.
  class Equivalents
    FILE = File.expand_path("equivalent.yml", __dir__)

    # @return [Array<Hash{String => String}>] file, before, after and reason of each
    attr_reader :entries

    def initialize(file = FILE)
      @entries = YAML.load_file(file) || []
      @known = @entries.to_h { |entry| [entry.values_at("file", "before", "after"), entry["reason"]] }
    end

    def include?(mutant) = @known.key?([mutant.path, mutant.before, mutant.after])
  end
end
