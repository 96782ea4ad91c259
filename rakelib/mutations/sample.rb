# frozen_string_literal: true

require "zlib"
require_relative "c_changes"
require_relative "mutant"
require_relative "ruby_changes"

module Mutations
  # Mutants of some source files: of each as many as its lines of code say, and of each kind alike. The same seed makes
  # the same ones. They are in no order, so that the first hundred are a sample, too.
  class Sample
    # @param count [Integer, nil] how many; without it one for a hundred lines, and at least 600
    def initialize(sources, seed:, count: nil)
      @sources, @seed = sources, seed
      @count = count || [lines / 100, 600].max
    end

    # @return [Array<Mutant>]
    def mutants
      missing = 0
      chosen = shares.flat_map do |source, share|
        wanted = share + missing
        pick(source, wanted).tap { |found| missing = wanted - found.size }
      end
      chosen.shuffle(random: Random.new(@seed))
    end

    private

    def lines = @sources.sum(&:size)

    # Every so many lines a mutant is due, in whatever file this line is.
    def shares
      step = lines.fdiv(@count)
      due = Random.new(@seed).rand * step
      passed = 0
      @sources.to_h do |source|
        passed += source.size
        share = (passed > due) ? ((passed - due) / step).ceil : 0
        due += share * step
        [source, share]
      end
    end

    # On different lines, if there are enough of them.
    def pick(source, count)
      return [] unless count > 0
      random = Random.new(@seed ^ Zlib.crc32(source.path))
      kinds = source.changes.uniq.group_by(&:kind).sort.map { |_, changes| changes.shuffle(random: random) }
      mutants, lines = [], {}
      until mutants.size == count || kinds.empty?
        changes = kinds.sample(random: random)
        mutant = Mutant.new(source, changes.pop)
        mutants << mutant unless lines[mutant.line]
        lines[mutant.line] = true
        kinds.delete(changes) if changes.empty?
      end
      mutants
    end
  end
end
