# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebResumableStreamsHelperTest < PeltonTest
  Message = Struct.new(:id, :content_stream)

  def setup
    @stream = Pelton::ResumableStream.new("message:7", Pelton::ResumableStream::Memory.new)
  end

  def test_a_text_that_is_to_come
    assert_equal '<div id="web_resumable_streams_helper_test_message_7_content" class="text"></div>' \
      '<span id="web_resumable_streams_helper_test_message_7_content_state" role="status" data-state="waiting">' \
      "</span>" \
      '<turbo-stream-source id="web_resumable_streams_helper_test_message_7_content_source" src="/messages/7/stream">' \
      "</turbo-stream-source>", element
  end

  def test_a_text_that_is_finished
    Pelton.run { @stream.write { |out| out << "<b>" } }

    assert_equal '<div id="web_resumable_streams_helper_test_message_7_content" class="text">&lt;b&gt;</div>' \
      '<span id="web_resumable_streams_helper_test_message_7_content_state" role="status" data-state="finished">' \
      "</span>", element
  end

  private

  def element
    Pelton::Web::View.new.resumable_stream_tag(Message.new(7, @stream), :content,
      src: "/messages/7/stream", class: "text").to_str
  end
end
