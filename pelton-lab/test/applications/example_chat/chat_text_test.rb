# frozen_string_literal: true

require "test_helper"
require "json"
require "pelton/lab/web/example_chat"

# In a process of its own: it loads a model of the chat.
class LabChatTextTest < PeltonTest
  FILE = Pelton::Lab::WebPrograms.application("example_chat/chat_text", "rb")

  def test_initials_and_search_words
    assert_equal ["AL", "C", "\"tea\" \"shop\" *"],
      run_there("[ChatText.initials('Ann van Lee'), ChatText.initials('cher'), ChatText.match('tea, shop!')]")
  end

  def test_marks_words_in_escaped_text
    assert_equal ["&lt;b&gt; <mark>Tea</mark> &amp; tee", "#{"a" * 299}…"],
      run_there("[ChatText.highlight('<b> Tea & tee', 'tea'), ChatText.highlight('a' * 301, 'x')]")
  end

  def test_text_is_converted_by_the_chats_own_code
    assert_equal "<code>&lt;a&gt;</code>", run_there("MessageText.html('`<a>`')")
  end

  private

  def run_there(expression)
    said = command_output(RbConfig.ruby, "-w", "-I", Pelton::Lab::Installation::LIBRARIES, "-r", FILE, "-r", "json",
      "-e", "print JSON.generate(#{expression})", env: {"CHAT" => Pelton::Lab::ExampleChat::FOLDER})
    JSON.parse(said)
  end
end
