# frozen_string_literal: true

require "json"
require "yaml"

# Sums up what the processes of the tests have written about the signatures (test/support/signature_checker.rb).
class TypesReport
  PLACE = "test/repository/unchecked_signatures.yml"
  EXCEPTIONS = File.expand_path("../../#{PLACE}", __dir__)

  def self.exceptions = YAML.load_file(EXCEPTIONS)

  # @param folder [String] with a file of each process
  # @param exceptions [Hash] `least` and `calls`, as in unchecked_signatures.yml
  # @param name [String] of the count of the methods
  # @param all [Regexp, nil] methods each of which must have been compared
  # @param whole [Boolean] whether all tests ran, so that these methods, and so many as always, must have been compared
  def initialize(folder, exceptions, name: "types", all: nil, whole: true)
    found = Dir["#{folder}/*.json"].sort.map { |file| JSON.parse(File.read(file)) }
    @wrapped, @compared, @declared = %w[wrapped compared declared].map { |key| found.flat_map { |one| one[key] }.uniq }
    calls, reasons = found.map { |one| one["wrong"] }.reduce({}, :merge), exceptions["calls"].keys
    @excepted, @wrong = calls.partition { |message, _| message.start_with?(*reasons) }
    @name, @missing = name, whole ? [*unused(reasons), *few(exceptions["least"]), *unreached(all)] : []
  end

  def true? = @wrong.empty? && @missing.empty?

  # @return [Array<String>] the last one counts the methods, as bin/test counts tests
  def lines
    methods = @wrong.map { |message, _| message[/\A\S+(?=: )/] }.uniq
    [
      *@wrong.sort.flat_map { |message, place| [short(message), "  in #{place}"] },
      *@missing,
      "#{@declared.size} methods are declared, #{@wrapped.size} wrapped, #{@compared.size} compared, " \
        "#{@excepted.size} calls excepted",
      "#{@name}: #{@compared.size - methods.size} passed, #{methods.size + @missing.size} failed, 0 skipped"
    ]
  end

  private

  def short(message) = message.gsub("::Pelton::", "").gsub(/(?<![\w:])::/, "")

  # The exceptions that no call needs.
  def unused(reasons)
    needless = reasons.reject { |one| @excepted.any? { |message, _| message.start_with?(one) } }
    needless.map { |one| "no call is as this exception says: #{one} (#{PLACE})" }
  end

  def few(least)
    ["only #{@compared.size} methods were compared, not #{least} (#{PLACE})"] if @compared.size < least
  end

  def unreached(all) = all ? (@declared.grep(all) - @compared).map { |one| "no call reaches #{one}" } : []
end
