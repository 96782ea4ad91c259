# frozen_string_literal: true

# Assertions on wrong answers of the run in @run.
module WrongAnswers
  private

  def assert_wrong(message = //, &block)
    assert_match(message, assert_raises(Pelton::Lab::Run::WrongAnswer, &block).message)
    assert @run.wrong_answer
  end
end
