# frozen_string_literal: true

require_relative "../../messages"

# What the forum has in it, and what its pages must show. It needs no gem.
module Forum
  USERS = 100
  BOARDS = 5
  TOPICS = 50 # every other one in the first board
  POSTS = 30 # in each topic
  SEARCHED = "lighthouse" # a word of a title of every tenth topic
  TOPIC = "/forum/board-1/topic-2"

  class << self
    # @return [Hash{String => String}] paths by what they show
    def pages
      {"the boards" => "/forum", "a board" => "/forum/board-1", "a topic" => TOPIC,
       "a search" => "/forum?q=#{SEARCHED}"}
    end

    # Where a reply is posted, and one in JSON.
    def reply = ["/forum/board-1/topic-4", {post: {content: post(4, 31)}}]

    def board_of(topic) = topic.even? ? 1 : topic % (BOARDS - 1) + 2

    def title(topic) = (topic % 10 == 2) ? "Topic #{topic}: the #{SEARCHED}" : "Topic #{topic}"

    # The words that begin a post, which is on no other page.
    def mark(topic, number) = "Post #{number} of topic #{topic}"

    # A text of some hundred words in Markdown.
    def post(topic, number)
      random = Random.new(topic * 1000 + number)
      words = ->(count) { Array.new(count) { Messages::WORDS.sample(random: random) }.join(" ") }
      <<~MARKDOWN
        #{mark(topic, number)}: #{words.call(60)}.

        > #{words.call(30)}

        #{words.call(40)}, **#{words.call(3)}**, and [#{words.call(2)}](https://example.com/#{number})
        ##{words.call(40)}.

        * #{words.call(8)}
        * _#{words.call(8)}_
        * `#{words.call(3)}`

        #{words.call(60)}.
      MARKDOWN
    end

    # Whether a page has what it must have.
    # @param path [String]
    # @param body [String]
    def right?(path, body)
      return false unless body.rstrip.end_with?("</html>")
      case path
      when "/forum" then (1..BOARDS).all? { |board| body.include?("Board #{board}") }
      when "/forum/board-1" then topics(body) == (1..TOPICS).select { |topic| board_of(topic) == 1 }
      # the first page
      when TOPIC then (1..POSTS).all? { |number| body.include?("#{mark(2, number)}:") == (number <= 25) }
      when "/forum?q=#{SEARCHED}" then topics(body) == (1..TOPICS).select { |topic| title(topic).include?(SEARCHED) }
      else false
      end
    end

    private

    # The numbers of the topics that a page links to.
    def topics(page) = page.scan(%r{href="/forum/board-\d+/topic-(\d+)}).flatten.map(&:to_i).uniq.sort
  end
end
