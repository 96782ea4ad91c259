# frozen_string_literal: true

require "json"
require "yaml"

# Sums up what the processes of the tests have written about the signatures (test/support/signature_checker.rb).
class TypesReport
  PLACE = "test/repository/unchecked_signatures.yml"
  EXCEPTIONS = File.expand_path("../../#{PLACE}", __dir__)

  def self.exceptions = YAML.load_file(EXCEPTIONS)

  # @param folder [String] with a file of each process
  # @param exceptions [Hash] the content of unchecked_signatures.yml
  # @param whole [Boolean] whether all unit tests ran, so that so many methods as always must have been compared
  def initialize(folder, exceptions, whole: true)
    found = Dir["#{folder}/*.json"].sort.map { |file| JSON.parse(File.read(file)) }
    @wrapped, @compared, @declared = %w[wrapped compared declared].map { |key| found.flat_map { |one| one[key] }.uniq }
    all = found.map { |one| one["wrong"] }.reduce({}, :merge)
    @excepted, @wrong = all.partition { |message, _| message.start_with?(*exceptions["calls"].keys) }
    @unused = exceptions["calls"].keys.reject { |one| @excepted.any? { |message, _| message.start_with?(one) } }
    @least, @whole = exceptions["least"], whole
  end

  def true? = @wrong.empty? && enough? && unused.empty?

  # @return [Array<String>] the last one counts the methods, as bin/test counts tests
  def lines
    methods = @wrong.map { |message, _| message[/\A\S+(?=: )/] }.uniq
    [
      *@wrong.sort.flat_map { |message, place| [short(message), "  in #{place}"] },
      *unused.map { |one| "no call is as this exception says: #{one} (#{PLACE})" },
      *("only #{@compared.size} methods were compared, not #{@least} (#{PLACE})" unless enough?),
      "#{@declared.size} methods are declared, #{@wrapped.size} wrapped, #{@compared.size} compared, " \
        "#{@excepted.size} calls excepted",
      "types: #{@compared.size - methods.size} passed, " \
        "#{methods.size + unused.size + (enough? ? 0 : 1)} failed, 0 skipped"
    ]
  end

  private

  def short(message) = message.gsub("::Pelton::", "").gsub(/(?<![\w:])::/, "")

  # The exceptions that no call needs.
  def unused = @whole ? @unused : []

  def enough? = !@whole || @compared.size >= @least
end
