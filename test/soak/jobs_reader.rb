# frozen_string_literal: true

require "pelton/http"

module Soak
  # A page that follows one text to its end, as a browser's EventSource does, over a line that it cuts now and then.
  class JobsReader
    # @return [String] what the page shows
    attr_reader :text

    # @return [Integer] how often it came back
    attr_reader :returns

    # @return [Integer, Pelton::Error, nil] the last status or error
    attr_reader :last

    # @param url [String]
    # @param random [Random]
    def initialize(url, random)
      @url, @random = url, random
      @text = +""
      @returns = 0
      @task = Pelton.spawn { read }
    end

    # @return [Boolean] whether it was told the end
    def ended? = !!@ended

    def stop = @task.cancel

    private

    def read
      until @ended
        begin
          response =
            Pelton::HTTP.get(@url, headers: {"last-event-id" => @position}.compact, stream: true, read_timeout: 5)
          @last = response.status
          follow(response)
        rescue Pelton::Error => error
          @last = error # it comes back
        ensure
          response&.close
        end
        @returns += 1 unless @ended
        sleep 0.1
      end
    end

    def follow(response)
      cut = Pelton::Clock.now + @random.rand(0.2..3)
      response.each_event do |event|
        take(event)
        break if @ended || Pelton::Clock.now > cut
      end
    end

    def take(event)
      case event.type
      when "message" then @text << event.data
      when "begin" then @text.clear
      when "finished", "cancelled" then @ended = true
      end
      @position = event.id
    end
  end
end
