# frozen_string_literal: true

require "time"
require_relative "tags"

module Pelton
  module Web
    module Helpers
      # Times, absolute and relative. The words are English; applications in other languages define their own helpers.
      module Dates
        MINUTE = 60
        HOUR = 60 * MINUTE
        DAY = 24 * HOUR
        MONTH = 30 * DAY
        YEAR = 365.25 * DAY
        private_constant :MINUTE, :HOUR, :DAY, :MONTH, :YEAR

        class << self
          def _seconds(time) = time.is_a?(Numeric) ? time : time.to_time.to_r

          # A number and its unit.
          def _count(seconds, unit, name, most: nil)
            number = [(seconds.to_f / unit).round, 1].max
            number = [number, most].compact.min
            "#{number} #{name}#{"s" if number > 1}"
          end

          def _years(seconds)
            whole, rest = ((seconds + DAY) / YEAR).divmod(1) # 365 days are a year, too
            case rest
            when ...0.25 then "about #{_count(whole, 1, "year")}"
            when ...0.75 then "over #{_count(whole, 1, "year")}"
            else "almost #{_count(whole + 1, 1, "year")}"
            end
          end

          def _format(time) = time.respond_to?(:hour) ? "%Y-%m-%d %H:%M %Z" : "%Y-%m-%d"
        end

        # @return [String] "3 minutes", "about 2 hours"; empty for nil
        def time_ago_in_words(time, now: Time.now) = time ? distance_of_time_in_words(time, now) : ""

        # @param from [Time, DateTime, Date, Numeric] a Numeric is seconds
        # @param to [Time, DateTime, Date, Numeric]
        def distance_of_time_in_words(from, to = 0)
          seconds = (Dates._seconds(to) - Dates._seconds(from)).abs.round
          case seconds
          when 0...30 then "less than a minute"
          when 30...(45 * MINUTE - 30) then Dates._count(seconds, MINUTE, "minute")
          when 0...DAY - 30 then "about #{Dates._count(seconds, HOUR, "hour")}"
          when 0...MONTH - DAY / 2 then Dates._count(seconds, DAY, "day")
          when 0...2 * MONTH - DAY / 2 then "about #{Dates._count(seconds, MONTH, "month")}"
          when 0...YEAR - DAY / 2 then Dates._count(seconds, MONTH, "month", most: 11)
          else Dates._years(seconds)
          end
        end

        # An element with a time for people, and one for programs in `datetime`.
        #
        #     time_tag(post.created_at) # <time datetime="2026-11-23T12:00:00Z">2026-11-23 12:00 UTC</time>
        #
        # @param time [Time, DateTime, Date, nil]
        # @param text [#to_s, nil] the text to show, or the block's
        # @param format [String, nil] for strftime, for the text
        # @return [HTML] empty for nil
        def time_tag(time, text = nil, format: nil, **attributes, &block)
          return HTML.new("") unless time
          text = time.strftime(format || Dates._format(time)) unless text || block
          tag(:time, text, datetime: time.iso8601, **attributes, &block)
        end

        # How long ago a time is, or how far ahead, with the time itself in `title`.
        #
        #     time_ago_tag(post.created_at) # <time datetime="2026-11-23T12:00:00Z" title="2026-11-23 12:00 UTC">3
        #     minutes ago</time>
        #
        # A cached page keeps the words: a script can renew them from the attribute.
        #
        # @return [HTML] empty for nil
        def time_ago_tag(time, now: Time.now, **attributes)
          return HTML.new("") unless time
          words = distance_of_time_in_words(time, now)
          time_tag(time, (Dates._seconds(time) > Dates._seconds(now)) ? "in #{words}" : "#{words} ago",
            title: time.strftime(Dates._format(time)), **attributes)
        end
      end
    end
  end
end
