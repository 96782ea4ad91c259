# frozen_string_literal: true

require "tmpdir"
require_relative "../test_helper"
require_relative "../../rakelib/types/programs"

# What `rake types:readme` makes of Steep's messages. That Steep reads the programs is shown by the mark after each.
class TypedProgramsTest < PeltonTest
  DOCUMENTS = {
    "README.md" => "# Title\n\n```ruby\nputs 1\nputs 2\n```\n",
    "pelton-lab/README.md" => "```ruby\nexperiment\n```\n"
  }.freeze
  FIRST, SECOND = "programs/README-3.rb", "programs/pelton-lab-README-1.rb"
  # The lines after the two programs.
  MARKED = {FIRST => {3 => "mark"}, SECOND => {2 => "mark"}}.freeze

  def test_programs_in_which_nothing_is_wrong_pass
    programs = judge({})

    assert_predicate programs, :true?
    assert_equal "types_readme: 2 passed, 0 failed, 0 skipped", programs.lines.last
  end

  def test_a_message_names_the_line_of_the_document
    programs = judge({FIRST => {2 => "wrong\nin detail"}})

    refute_predicate programs, :true?
    assert_equal ["README.md: wrong", "  in README.md:5"], programs.lines.first(2)
    assert_equal "types_readme: 1 passed, 1 failed, 0 skipped", programs.lines.last
  end

  def test_comments_before_a_program_are_no_lines_of_the_document
    programs = judge({FIRST => {2 => "wrong", 4 => "mark"}}, annotations: {"README.md" => "@type var app: top"},
      marked: {SECOND => {2 => "mark"}})

    assert_equal "  in README.md:4", programs.lines[1]
  end

  def test_an_exception_leaves_a_message_out
    assert_predicate judge({FIRST => {2 => "wrong"}}, messages: {"README.md: wrong" => "a reason"}), :true?
  end

  def test_an_exception_leaves_a_program_out
    programs = judge({SECOND => {1 => "wrong"}}, untyped: {"pelton-lab/README.md: exp" => "a reason"})

    assert_predicate programs, :true?
    assert_equal "types_readme: 1 passed, 0 failed, 0 skipped", programs.lines.last
  end

  def test_an_exception_that_nothing_needs_fails
    refute_predicate judge({}, messages: {"README.md: wrong" => "a reason"}), :true?
    refute_predicate judge({}, untyped: {"pelton-lab/README.md: exp" => "a reason"}), :true?
    refute_predicate judge({}, untyped: {"pelton-web/README.md: " => "a reason"}), :true?
  end

  def test_a_program_that_steep_has_not_read_fails
    programs = judge({}, marked: {FIRST => {3 => "mark"}})

    refute_predicate programs, :true?
    assert_equal "  in pelton-lab/README.md:1", programs.lines[1]
  end

  def test_a_wrong_signature_fails
    programs = judge({"signatures/sig/http.rbs" => {7 => "unknown"}})

    refute_predicate programs, :true?
    assert_equal ["sig/http.rbs: unknown", "  in sig/http.rbs:7"], programs.lines.first(2)
  end

  def test_the_project_has_the_programs_of_all_readmes_and_all_signatures
    Dir.mktmpdir do |folder|
      TypesPrograms.new(TypesPrograms.readmes, exceptions(annotations: {"README.md" => "@type var app: top"}))
        .write(folder)
      programs = Dir["#{folder}/programs/*.rb"].to_h { |file| [File.basename(file), File.read(file)] }

      assert_equal readmes.sum { |path| File.read(path).scan(/^ *```ruby$/).size }, programs.size
      assert(programs.values.all? { |text| text.end_with?("\n#{TypesPrograms::MARK}") })
      assert_equal programs.keys.grep(/\AREADME/), programs.select { |_, text| text.start_with?("# @type") }.keys
      assert_equal signatures(ROOT), signatures("#{folder}/signatures")
      assert_path_exists "#{folder}/signatures/#{TypesPrograms::DECLARATIONS}"
    end
  end

  private

  def readmes = Dir["#{ROOT}/{,pelton-*/}README.md"]

  def signatures(folder) = Dir["{sig,pelton-*/sig}/*.rbs", base: folder].sort

  def exceptions(**lists)
    {"annotations" => {}, "untyped" => {}, "messages" => {}}.merge(lists.transform_keys(&:to_s))
  end

  # @param found [Hash] messages by file and line, and `marked`, those of the marks
  def judge(found, marked: MARKED, **lists)
    files = marked.merge(found) { |_, mark, messages| mark.merge(messages) }.map do |file, messages|
      diagnostics = messages.map do |line, message|
        {"range" => {"start" => {"line" => line, "character" => 0}}, "message" => message}
      end
      {"file" => file, "diagnostics" => diagnostics}
    end
    TypesPrograms.new(DOCUMENTS, exceptions(**lists)).judge(files)
  end
end
