# frozen_string_literal: true

require "ripper"
require_relative "../test_helper"

# No line of Ruby or C is longer than 120 columns. Programs in heredocs named RUBY are Ruby, too.
class LineLengthTest < PeltonTest
  MOST = 120
  # A literal that fills a line alone cannot be broken without hiding what it says.
  WHOLE = 90

  # Files that may have longer lines, and the reasons.
  EXEMPT = {
    "pelton-lab/examples/articles/**/*" => "as they were printed",
    "pelton-lab/lib/pelton/lab/report/html/style.rb" => "a style sheet, one rule a line",
    "pelton-rails/test/support/comparison/calls/*" => "evaluated line by line",
    "pelton-web/examples/tracker/**/*" => "equal to docs/start/small_application.md"
  }.freeze

  SCRIPTS = %w[.ci/* bin/* exe/* Gemfile Rakefile].freeze

  def test_no_line_is_too_long
    found = files.flat_map { |file| too_long(file, File.read(File.join(ROOT, file), encoding: "UTF-8")) }

    assert_empty found
  end

  def test_what_counts
    long = "x" * 100

    assert_equal ["a.c:1"], too_long("a.c", "// #{"word " * 30}\n")
    assert_equal ["a.rb:2"], too_long("a.rb", "a = 1\nputs(#{"a, " * 50}a)\n")
    assert_empty too_long("a.rb", "assert_match(/#{"a " * 60}/, text)\n"), "a regular expression"
    assert_equal ["a.rb:1"], too_long("a.rb", "call(/a/, #{"1, " * 50}/b/)\n"), "two of them"
    assert_empty too_long("a.rb", "assert_equal \"https://#{long}\", text(1, 2)\n"), "an address"
    assert_equal ["a.rb:1"], too_long("a.rb", "raise Error, \"#{"word " * 30}\"\n"), "a text"
    assert_empty too_long("a.rb", "puts <<~TEXT\n  #{"word " * 30}\nTEXT\n"), "data"
    assert_equal ["a.rb:2"], too_long("a.rb", "run <<~RUBY\n  #{"word " * 30}\nRUBY\n"), "a program"
    assert_equal ["a.rb:4"], too_long("a.rb", "puts <<~TEXT\n  a\nTEXT\n# #{"word " * 30}\n"), "after data"
    assert_empty too_long("a.rb", "# | a | #{"word " * 30}|\n"), "a row of a table"
    assert_empty too_long("a.rb", "rescue_all # standard:disable A/B: #{"word " * 30}\n"), "a directive"
  end

  private

  def files
    all = Dir.glob("**/*.{rb,c,h,rake,ru,gemspec}", base: ROOT).grep_v(%r{(\A|/)(tmp|vendor|pkg|node_modules)/})
    scripts = Dir.glob(SCRIPTS, base: ROOT).select { |file| ruby?(File.join(ROOT, file)) }
    (all | scripts) - Dir.glob(EXEMPT.keys, base: ROOT)
  end

  def ruby?(path)
    return false unless File.file?(path)
    %w[Gemfile Rakefile].include?(File.basename(path)) || File.open(path, &:gets).to_s.match?(/\A#!.*ruby/)
  end

  def too_long(file, text)
    long = text.lines(chomp: true).each_with_index.select { |line, _| line.length > MOST }
    return [] if long.empty?
    data = file.match?(/\.[ch]\z/) ? [] : data_lines(text)
    long.filter_map do |line, index|
      next if line.match?(/\A\s*# \|.*\|\z|# (?:standard|rubocop):disable /) || data.include?(index + 1)
      "#{file}:#{index + 1}"
    end
  end

  # The numbers of lines that are in a heredoc of another language, or filled by one literal.
  def data_lines(text)
    tokens = Ripper.lex(text)
    [*heredoc_lines(tokens), *literal_lines(tokens)]
  end

  def heredoc_lines(tokens)
    begun = []
    last = 0
    tokens.flat_map do |(line, _), type, token|
      begun << [token[/\w+/], line] if type == :on_heredoc_beg
      next [] unless type == :on_heredoc_end
      name, above = begun.shift
      first = [above, last].max + 1
      last = line
      (name == "RUBY") ? [] : (first..line).to_a
    end
  end

  def literal_lines(tokens)
    from = nil
    tokens.filter_map do |(line, column), type, token|
      case type
      when :on_regexp_beg then from = [line, column]
      when :on_regexp_end
        line if from&.first == line && column - from.last >= WHOLE
      when :on_tstring_content
        line if token.length >= WHOLE && !token.match?(/\s/)
      end
    end
  end
end
