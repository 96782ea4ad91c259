# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/resumable_stream"

class ResumableStreamTurboElementsTest < PeltonTest
  def test_the_beginning_of_a_text_takes_the_place_of_what_the_page_has
    assert_equal '<turbo-stream action="update" target="m_7"><template>a&lt;b</template></turbo-stream>',
      elements.of(event(:append, "1:3", text: "a<b"))
    assert_equal '<turbo-stream action="append" target="m_7"><template>c</template></turbo-stream>',
      elements.of(event(:append, "1:4", text: "c"))
  end

  def test_a_text_that_is_made_anew
    assert_equal '<turbo-stream action="update" target="m_7"><template></template></turbo-stream>',
      elements.of(event(:begin))
  end

  def test_states_reach_the_element_of_the_state_and_the_last_one_ends_the_source
    state = '<turbo-stream action="replace" target="m_7_state"><template>' \
      '<span id="m_7_state" role="status" data-state="%s"></span></template></turbo-stream>'

    assert_equal format(state, "failed"), elements.of(event(:failed))
    assert_equal format(state, "finished") + '<turbo-stream action="remove" target="m_7_source"></turbo-stream>',
      elements.of(event(:finished))
  end

  def test_the_elements_of_the_block_come_first
    elements = Pelton::ResumableStream::TurboElements.new("m_7") { |event| "<b>#{event.error}</b>" }

    assert_operator elements.of(event(:failed, error: "IOError")), :start_with?, "<b>IOError</b><turbo-stream"
  end

  def test_an_id_is_escaped
    assert_equal '<span id="a&quot;_state" role="status" data-state="waiting"></span>',
      Pelton::ResumableStream::TurboElements.state('a"', "waiting")
    assert_includes Pelton::ResumableStream::TurboElements.new('a"').of(event(:begin)), 'target="a&quot;"'
  end

  private

  def elements = Pelton::ResumableStream::TurboElements.new("m_7")

  def event(type, position = "1:0", **options) = Pelton::ResumableStream::Event.new(type, position, **options)
end
