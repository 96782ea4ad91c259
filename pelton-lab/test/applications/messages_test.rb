# frozen_string_literal: true

require "test_helper"
require "pelton/lab/applications/messages"

class LabMessagesTest < PeltonTest
  def test_the_finished_page_is_right
    page = Messages.page("Ada")

    assert_includes 25_000..32_000, page.bytesize
    assert Messages.right?(page, "Ada")
  end

  def test_a_page_of_another_user_or_without_a_message_is_not
    page = Messages.page("Ada")

    refute Messages.right?(page, "Bob")
    refute Messages.right?(page.sub(Messages::LIST[20].text, ""), "Ada")
    refute Messages.right?(page[0...-1], "Ada")
  end
end
