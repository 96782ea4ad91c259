# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../../rakelib/release/first_program"

class FirstProgramTest < PeltonTest
  def test_the_first_block_of_ruby_and_what_it_prints
    program =
      FirstProgram.new("# A\n```sh\nx\n```\n\n```ruby\nputs 1\nputs 2\n```\n\nIt prints:\n\n```text\n1\n2\n```\n\n" \
        "```ruby\nputs 3\n```\n")

    assert_equal "puts 1\nputs 2\n", program.code
    assert_equal "program.rb", program.file
    assert_equal %w[ruby program.rb], program.command
    assert program.prints?("1\n2\n")
    refute program.prints?("1\n2\n3\n")
  end

  def test_its_first_line_may_say_how_it_is_started
    program = FirstProgram.new("```ruby\n# naps.rb: pelton lab naps.rb --rounds 3\nnap\n```\n")

    assert_equal "naps.rb", program.file
    assert_equal %w[pelton lab naps.rb --rounds 3], program.command
    assert program.prints?("anything")
  end

  def test_dots_stand_for_anything
    program = FirstProgram.new("```ruby\nputs rand\n```\n\n```text\nat 0...s\n...\nend\n```\n")

    assert program.prints?("at 0.3s\none\ntwo\nend\n")
    refute program.prints?("at 1.3s\none\nend\n")
  end

  def test_blocks_after_another_heading_do_not_belong_to_the_program
    assert FirstProgram.new("```ruby\n1\n```\n\n## Next\n\n```text\nx\n```\n").prints?("")
  end

  def test_without_a_program
    assert_raises(ArgumentError) { FirstProgram.new("# A\n") }
  end
end
