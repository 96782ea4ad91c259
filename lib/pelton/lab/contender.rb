# frozen_string_literal: true

module Pelton
  module Lab
    # One way to do a race's work.
    class Contender
      # Keyword `style` says how it is written: "blocking", "callback", "deferrable", "direct" ...
      # Keyword `gem` names the library that it needs: where that is not installed, it is skipped and named.
      # Keyword `at_most` bounds its size: what does one operation at a time needs no more for its time per operation.
      # Keyword `extra` keeps it out unless `--peers` asks for all.
      attr_reader :name, :style, :gem, :at_most, :baseline, :extra, :work

      def initialize(name, style: "", gem: nil, at_most: nil, baseline: false, extra: false, &work)
        @name = name
        @style = style
        @gem = gem
        @at_most = at_most
        @baseline = baseline
        @extra = extra
        @work = work
      end

      # Whether it is another library, there to be compared with.
      def peer?
        !gem.nil? && !baseline
      end

      # Why it cannot run here, or nil.
      def unavailable
        "the gem #{gem} is not installed (gem install #{gem})" if gem && !installed?
      end

      # The installed version of its library, or nil.
      def version
        Gem::Specification.find_by_name(gem).version.to_s if gem
      rescue Gem::MissingSpecError
        nil
      end

      private

      def installed?
        !version.nil?
      end
    end
  end
end
