# frozen_string_literal: true

# A run, @run, and assertions on its wrong answers; a server beside it, @server.
module WrongAnswers
  def setup
    @run = Pelton::Lab::Run.new(size: 1)
    @server = TCPServer.new("127.0.0.1", 0)
  end

  private

  def assert_wrong(message = //, &block)
    assert_match(message, assert_raises(Pelton::Lab::Run::WrongAnswer, &block).message)
    assert @run.wrong_answer
  end
end
