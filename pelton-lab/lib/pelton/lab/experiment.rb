# frozen_string_literal: true

require_relative "race"

module Pelton
  module Lab
    # One question and the races that answer it.
    class Experiment
      attr_reader :name, :path, :races

      # @param path [String] the file that declares it: each child process loads it again
      def initialize(name, path, &description)
        @name = name
        @path = path
        @about = ""
        @races = []
        instance_eval(&description)
      end

      # With a text: states the question. Without: that text.
      def about(text = nil)
        text ? @about = text : @about
      end

      # Keeps it out of runs without a name, because it takes too long or needs too much.
      def only_when_named
        @only_when_named = true
      end

      def only_when_named?
        !!@only_when_named
      end

      # Declares a race: contenders that do the same work, see {Race}.
      def race(name, **options, &description)
        @races << Race.new(name, **options, &description)
      end

      # @raise [KeyError] when no race has that name
      def find(race_name)
        races.find { |race| race.name == race_name } or raise KeyError, "#{name} has no race #{race_name.inspect}"
      end
    end
  end
end
