# frozen_string_literal: true

require "fileutils"
require "yaml"
require_relative "../../test/support/example_programs"
require_relative "report"

# The programs of the READMEs as a project of Steep's, and what Steep says of them.
class TypesPrograms
  ROOT = File.expand_path("../..", __dir__)
  # What the programs define, as a reader who checks them would declare it.
  DECLARATIONS = "test/repository/readme_programs.rbs"
  # Follows each program: a call with one argument too many. Steep passes over a program that it cannot read.
  MARK = "Pelton.running?(:mark)\n"

  # A program of a document.
  # @!attribute document [String] its path
  # @!attribute line [Integer] the one before the program
  # @!attribute code [String]
  Program = Struct.new(:document, :line, :code) do
    def path = "programs/#{document.delete_suffix(".md").tr("/", "-")}-#{line}.rb"

    def to_s = "#{document}: #{code}"
  end

  # @return [Hash{String => String}] the texts of the READMEs by their paths
  def self.readmes
    Dir["{,pelton-*/}README.md", base: ROOT].sort.to_h do |path|
      [path, File.read(File.join(ROOT, path), encoding: "UTF-8")]
    end
  end

  # @param documents [Hash{String => String}]
  # @param exceptions [Hash] the content of unchecked_signatures.yml
  def initialize(documents, exceptions)
    @programs = documents.flat_map do |document, text|
      ExamplePrograms.examples(text).map { |example| Program.new(document, example.line, example.code) }
    end
    @annotations, @untyped, @excepted = exceptions.values_at("annotations", "untyped", "messages")
    @left_out, @checked = @programs.partition { |program| program.to_s.start_with?(*@untyped.keys) }
  end

  # Writes the project.
  #
  # @param folder [String]
  # @return [void]
  def write(folder)
    signatures = Dir["{.,pelton-*}/sig/*.rbs", base: ROOT] << DECLARATIONS
    signatures.each { |path| put(folder, "signatures/#{path.delete_prefix("./")}", File.read(File.join(ROOT, path))) }
    @programs.each { |program| put(folder, program.path, annotated(program) + MARK) }
    put(folder, "Steepfile", <<~RUBY)
      target :programs do
        signature "signatures"
        check "programs"
        library #{libraries.map(&:inspect).join(", ")}
      end
    RUBY
  end

  # @param found [Array<Hash>] what Steep has found in the project
  # @return [self]
  def judge(found)
    found = found.to_h { |file| [file["file"], file["diagnostics"]] }
    wrong = @checked.to_h { |program| [program.path, of_program(program, found.fetch(program.path, []))] }
    found.each { |path, messages| wrong[path] = of_signatures(path, messages) if path.start_with?("signatures/") }
    texts = wrong.values.flatten(1).map(&:first)
    @needless = @excepted.keys - beginnings(@excepted, texts) + needlessly_left_out(found)
    @wrong = wrong.transform_values { |messages| messages.reject { |text, _| text.start_with?(*@excepted.keys) } }
      .reject { |_, messages| messages.empty? }
    self
  end

  def true? = failures == 0

  # @return [Array<String>] the last one counts the programs, as bin/test counts tests
  def lines
    passed = @checked.map(&:path) - @wrong.keys
    [
      *@wrong.values.flatten(1).flat_map { |text, place| [text, "  in #{place}"] },
      *@needless.map { |beginning| "nothing is as this exception says: #{beginning.inspect} (#{TypesReport::PLACE})" },
      "#{@programs.size} programs are in READMEs, #{@left_out.size} of them left out",
      "types_readme: #{passed.size} passed, #{failures} failed, 0 skipped"
    ]
  end

  private

  def failures = @wrong.size + @needless.size

  # Those exceptions with which one of the texts begins.
  def beginnings(exceptions, texts)
    exceptions.keys.select { |beginning| texts.any? { |text| text.start_with?(beginning) } }
  end

  # Exceptions without a program, or with one in which nothing is wrong.
  def needlessly_left_out(found)
    wrong = @left_out.reject { |program| of_program(program, found.fetch(program.path, [])).empty? }
    @untyped.keys - beginnings(@untyped, wrong.map(&:to_s))
  end

  def put(folder, path, text)
    FileUtils.mkdir_p(File.dirname(file = File.join(folder, path)))
    File.write(file, text)
  end

  # The comments for Steep of a document's programs.
  def annotations(program) = Array(@annotations[program.document]).map { |text| "# #{text}\n" }

  def annotated(program) = annotations(program).join + program.code

  # Libraries of Ruby that the signatures name.
  def libraries
    Dir["{.,pelton-*}/sig/manifest.yaml", base: ROOT]
      .flat_map { |path| YAML.load_file(File.join(ROOT, path)).fetch("dependencies") }.map { |one| one.fetch("name") }
  end

  # [text, place] of each message but that of the mark.
  def of_program(program, diagnostics)
    end_of_program = annotated(program).lines.size
    reached, messages = diagnostics.partition { |one| line(one) > end_of_program }
    found = messages.map do |one|
      [text(program.document, one), "#{program.document}:#{program.line + line(one) - annotations(program).size}"]
    end
    return found if reached.any?
    found << ["#{program.document}: Steep has not read a program to its end", "#{program.document}:#{program.line}"]
  end

  def of_signatures(path, diagnostics)
    path = path.delete_prefix("signatures/")
    diagnostics.map { |one| [text(path, one), "#{path}:#{line(one)}"] }
  end

  def text(path, diagnostic) = "#{path}: #{diagnostic["message"].lines.first.chomp}"

  def line(diagnostic) = diagnostic["range"]["start"]["line"]
end
