# frozen_string_literal: true

namespace :release do
  desc "Build all gems, install each into an empty folder with nothing but what it declares, and run its README's first program"
  task :check do
    require_relative "release/check"
    ReleaseCheck.new.run { |line| puts line }
  rescue Packages::Failed => problem
    abort "release:check: #{problem.message}"
  end
end
