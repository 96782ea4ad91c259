# frozen_string_literal: true

# The first program of a README, as a reader would try it: the first block of Ruby. The comment in its first line may
# say how the program is started (`# naps.rb: pelton lab naps.rb`); otherwise it is `ruby program.rb`. The next block of
# text, before any other heading, is its output; "..." there stands for any text.
class FirstProgram
  attr_reader :code, :file, :command

  # @param readme [String] its text
  # @raise [ArgumentError] it has no program
  def initialize(readme)
    blocks = readme.match(/^```ruby\n(?<code>.*?)^```$(?<rest>.*)/m) or raise ArgumentError, "there is no block of Ruby"
    @code = blocks[:code]
    @file, command = @code.match(/\A# (\S+\.rb): (.+)$/)&.captures || ["program.rb", "ruby program.rb"]
    @command = command.split
    @output = blocks[:rest][/.*?(?=^#)|.*/m][/^```text\n(.*?)^```$/m, 1]
  end

  # @return [Boolean] whether this is the output in the README
  def prints?(output)
    @output.nil? || output.match?(/\A#{Regexp.escape(@output).gsub('\.\.\.', ".*?")}\z/m)
  end
end
