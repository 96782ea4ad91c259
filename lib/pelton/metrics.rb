# frozen_string_literal: true

module Pelton
  # Writes counters in Prometheus' text format, version 0.0.4.
  module Metrics
    TYPE = "text/plain; version=0.0.4; charset=utf-8"

    # How one entry of the stats is shown to Prometheus: `type` is counter, gauge or histogram. The value of a histogram
    # is a Hash {"0.1" => how many took 0.1 s at most, ..., "+Inf" => all, "sum" => seconds}. With a `label` the value
    # is a Hash {label's value => number or histogram}. With an Array of labels its keys are the labels' values, with
    # spaces between them; only the last may contain spaces, and the last ones may be missing.
    Family = Struct.new(:type, :name, :help, :label)

    ESCAPES = {"\\" => "\\\\", "\n" => "\\n", "\"" => "\\\""}.freeze
    private_constant :ESCAPES

    @sources = []

    class << self
      # Adds counters to those that a server's control socket shows: another gem, or a program, has some of its
      # own.
      #
      #     Pelton::Metrics.add("jobs" => Pelton::Metrics::Family.new("counter", "jobs_total", "Finished jobs."))
      #     { {"jobs" => Job.count} }
      #
      # @param families [Hash{String => Family}] by the names in the stats
      # @yieldreturn [Hash{String => Numeric, Hash}] the stats at this moment. It is called on any thread
      # @return [Object] what {remove} takes
      # @raise [ArgumentError] without a block
      def add(families, &stats)
        raise ArgumentError, "add needs a block that returns the stats" unless stats
        [families, stats].tap { |source| @sources += [source] }
      end

      # Takes away what {add} has added.
      #
      # @param source [Object] what {add} has returned
      # @return [void]
      def remove(source)
        @sources = @sources.reject { |one| one.equal?(source) }
        nil
      end

      # @return [Hash{String => Family}] of all that was added
      # @private
      def families = @sources.map(&:first).reduce({}, :merge)

      # @return [Hash{String => Numeric, Hash}] the stats of all that was added
      # @private
      def stats = @sources.map { |_, stats| stats.call }.reduce({}, :merge)

      # @param families [Hash{String => Family}] by the names in the stats
      # @param rows [Hash{Hash => Hash{String => Numeric, Hash}}] stats by labels: {{worker: 0} => {"requests" => 3}}. A
      #   row may lack some of the names
      # @return [String]
      def text(families, rows)
        families.map do |name, family|
          lines = rows.flat_map { |labels, stats| stats.key?(name) ? samples(family, labels, stats[name]) : [] }
          next if lines.empty?
          "# HELP #{family.name} #{family.help.gsub(/[\\\n]/, ESCAPES)}\n# TYPE #{family.name} #{family.type}\n" \
          "#{lines.join}"
        end.join
      end

      # @return [Array<String>] the names of stats that only grow
      # @private
      def counters(families) = families.select { |_, family| %w[counter histogram].include?(family.type) }.keys

      private

      def samples(family, labels, value, names = Array(family.label))
        if names.any?
          return value.flat_map { |key, one|
            samples(family, labels.merge(names.zip(key.split(" ", names.size)).to_h.compact), one, [])
          }
        end
        return [sample(family.name, labels, value)] unless value.is_a?(Hash)
        buckets = value.except("sum").map do |bound, number|
          sample("#{family.name}_bucket", labels.merge(le: bound), number)
        end
        [*buckets, sample("#{family.name}_sum", labels, value["sum"]),
          sample("#{family.name}_count", labels, value["+Inf"])]
      end

      def sample(name, labels, value)
        pairs = labels.map { |label, text| "#{label}=\"#{text.to_s.gsub(/[\\\n"]/, ESCAPES)}\"" }
        "#{name}#{"{#{pairs.join(",")}}" unless pairs.empty?} #{value}\n"
      end
    end
  end
end
