# frozen_string_literal: true

require "digest"

module Mutations
  # A source file with one change.
  class Mutant
    attr_reader :source, :change

    def initialize(source, change)
      @source, @change = source, change
    end

    def path = source.path

    # Of the first byte that changes.
    def line = source.text.byteslice(0, change.start).count("\n") + 1

    # The whole text. It has as many lines as before, so that no line number in it changes.
    def text
      missing = source.text.byteslice(change.start, change.length).count("\n") - change.text.count("\n")
      spliced(source.text.byteslice(0, change.start), change.text + "\n" * [missing, 0].max, rest)
    end

    # The lines that change, as one, before and after.
    def before = squeezed(source.text.byteslice(change.start, change.length))

    def after = squeezed(change.text)

    # What it is, as long as its file stays the same.
    def key = Digest::SHA256.hexdigest([path, source.text, change.start, change.length, change.text].join("\0"))[0, 24]

    def to_s = "#{path}:#{line}: #{before} -> #{after}"

    private

    def rest = source.text.byteslice(change.start + change.length..)

    def squeezed(middle)
      first = source.text.byteslice(0, change.start)[/[^\n]*\z/]
      spliced(first, middle, rest[/\A[^\n]*/]).split.join(" ")
    end

    def spliced(*parts) = parts.map { |part| part.dup.force_encoding(Encoding::UTF_8) }.join
  end
end
