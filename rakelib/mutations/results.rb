# frozen_string_literal: true

require "fileutils"
require "json"

module Mutations
  # What became of each mutant, a line each in a file: a run that was broken off goes on where it was.
  class Results
    # @param file [String]
    # @param again [Boolean] whether those that survived are tried once more
    def initialize(file, again: false)
      @file = file
      FileUtils.mkdir_p(File.dirname(file))
      @kept = File.exist?(file) ? File.readlines(file).to_h { |line| JSON.parse(line).values_at("key", "result") } : {}
      @kept.delete_if { |_, result| result == "survived" } if again
      @lock = Mutex.new
    end

    def [](key) = @lock.synchronize { @kept[key] }

    def []=(key, result)
      @lock.synchronize do
        @kept[key] = result
        File.write(@file, "#{JSON.generate(key: key, result: result)}\n", mode: "a")
      end
    end
  end
end
