# frozen_string_literal: true

require "json"
require_relative "children"

# Runs each example of a document as a program of its own, and compares its output.
#
# An example is a block of ```ruby. If it requires a file, it runs as it stands; otherwise it runs inside Pelton.run. A
# line that ends in "# => value" is checked. A block of ```text right behind the example shows what the example prints,
# on standard output and standard error; "..." in it stands for any text. An example without such a block prints
# nothing.
module ExamplePrograms
  include Children

  # A report of the watchdog that the example's own code has not caused: a busy machine may halt the loop anywhere.
  STALL =
    /^pelton: the loop has been blocked for \S+ s in\n    (?!app\.rb:)(?:.*\n)(?:    .*\n)*(?:pelton: the loop goes on after \S+ s.*\n)?/

  Example = Struct.new(:line, :code, :expected) do
    # The program, with the lines where the document's reader sees them.
    def program
      checked = code.gsub(/^( *)(\S.*?) +# => (.+)$/) { "#{$1}check((#{$2}), (#{$3}))" }
      checked.match?(/^ *require /) ? checked : "Pelton.run do #{checked}end\n"
    end

    def printed?(output) = output.gsub(STALL, "").match?(/\A#{Regexp.escape(expected).gsub('\.\.\.', ".*?")}\z/m)
  end

  PATTERN = /^( *)```ruby\n(.*?)^\1```\n(?:\n*\1```text\n(.*?)^\1```\n)?/m

  # Runs the programs of a document one after the other, each in a folder of its own. Reads a JSON object from standard
  # input.
  RUNNER = <<~'RUBY'
    require "json"
    require "tmpdir"
    require "pelton"

    def check(actual, expected) = actual == expected || abort("#{actual.inspect} instead of #{expected.inspect}")

    files, programs = JSON.parse($stdin.read).values_at("files", "programs")
    results = programs.map do |program|
      Dir.mktmpdir do |folder|
        files.each { |name, content| File.write(File.join(folder, name), content) }
        reader, writer = IO.pipe
        pid = fork do
          reader.close
          Dir.chdir(folder)
          [$stdout, $stderr].each { |io| io.reopen(writer) && io.sync = true }
          writer.close
          $PROGRAM_NAME = "app.rb"
          RubyVM::InstructionSequence.compile(program, "app.rb").eval
        end
        writer.close
        output = reader.read
        Process.wait(pid)
        [output, $?.success?]
      end
    end
    puts JSON.generate(results)
  RUBY

  # @return [Array<Example>]
  def self.examples(text)
    text.to_enum(:scan, PATTERN).map do
      indent, *blocks = $~.captures
      Example.new($~.pre_match.count("\n") + 1, *blocks.map { |block| block.to_s.gsub(/^#{indent}/, "") })
    end
  end

  # @param text [String] the document
  # @param name [String] what the document is called in messages
  # @param replace [Hash{String => String}] parts of the programs that are different here
  # @param files [Hash{String => String}] files that each program finds in its folder, by name
  def assert_examples_run(text, name, replace: {}, files: {})
    examples = ExamplePrograms.examples(text)
    assert_equal text.scan(/^ *```ruby$/).size, examples.size
    refute_empty examples
    programs = examples.map do |example|
      replace.reduce(example.program) { |program, (from, to)| program.gsub(from, to) }
    end
    results = JSON.parse(ruby_output(RUNNER, stdin: JSON.generate("files" => files, "programs" => programs),
      gems: true, options: ["-W2"]))
    wrong = examples.zip(results).reject { |example, (output, success)| success && example.printed?(output) }

    assert_empty wrong.map { |example, (output, _)|
      "#{name}:#{example.line} printed\n#{output}instead of\n#{example.expected}"
    }
  end
end
