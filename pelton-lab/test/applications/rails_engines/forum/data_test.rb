# frozen_string_literal: true

require "test_helper"
require "pelton/lab/applications/rails_engines/forum/data"

class LabForumDataTest < PeltonTest
  def test_a_board_links_to_its_topics_alone
    page =
      (1..Forum::TOPICS).select(&:even?).map { |topic| "<a href=\"/forum/board-1/topic-#{topic}\">" }.join + "</html>\n"

    assert Forum.right?("/forum/board-1", page)
    refute Forum.right?("/forum/board-1", page.sub("topic-8\"", "topic-9\"")), "another topic"
    refute Forum.right?("/forum/board-1", page.delete_suffix("</html>\n")), "half a page"
  end

  def test_a_topic_shows_its_first_page
    posts = (1..26).map { |number| "<p>#{Forum.post(2, number)}</p>" }

    assert Forum.right?(Forum::TOPIC, "#{posts.first(25).join}</html>")
    refute Forum.right?(Forum::TOPIC, "#{posts.first(24).join}</html>"), "too few"
    refute Forum.right?(Forum::TOPIC, "#{posts.join}</html>"), "too many"
  end
end
