# frozen_string_literal: true

module Mutations
  # What a run has found: a table by room, and the mutants that survived.
  class Report
    KILLED = %w[named room].freeze
    COLUMNS = ["room", "mutants", "by name", "by room", "survived", "equivalent", "killed"].freeze

    # @param outcomes [Hash{Mutant => String}]
    def initialize(outcomes)
      @outcomes = outcomes
    end

    # @return [Float] the share of those which count that tests have killed
    def share(outcomes = counted)
      outcomes.empty? ? 1.0 : outcomes.count { |_, outcome| KILLED.include?(outcome) }.fdiv(outcomes.size)
    end

    def to_s
      survivors = @outcomes.select { |_, outcome| outcome == "survived" }.keys
      [table, *survivors.map { |mutant| "survived: #{mutant}" }.sort, ending].join("\n")
    end

    private

    # Those which are faults: that compile, to other code.
    def counted(outcomes = @outcomes) = outcomes.select { |_, outcome| [*KILLED, "survived"].include?(outcome) }

    def table
      rooms = @outcomes.group_by { |mutant, _| mutant.source.room }.sort.map { |room, outcomes| row(room, outcomes) }
      rows = [COLUMNS, *rooms, row("all", @outcomes.to_a)]
      widths = rows.transpose.map { |cells| cells.map { |cell| cell.to_s.size }.max }
      rows.map do |room, *cells|
        [room.ljust(widths[0]), *cells.zip(widths.drop(1)).map { |cell, width| cell.to_s.rjust(width) }].join("  ")
      end
    end

    def row(room, outcomes)
      counts = Hash.new(0).merge(outcomes.map(&:last).tally)
      faults = counted(outcomes)
      percent = "#{(share(faults) * 100).floor} %"
      [room, faults.size, *counts.values_at("named", "room", "survived", "equivalent"), percent]
    end

    def ending
      left_out = @outcomes.values.tally.slice("invalid", "same", "untested").map { |pair| pair.reverse.join(" ") }
      killed = "#{(share * 100).round(1)} % of #{counted.size} mutants killed"
      left_out.any? ? "#{killed} (not counted: #{left_out.join(", ")})" : killed
    end
  end
end
