# frozen_string_literal: true

# Rails, for bin/test downstream: an application is generated and served. Its gems have a folder of their own (tmp/rails).
source Gem.sources.to_a.first

gem "rails", "~> 7.2.0" # the last for Ruby 3.1
gem "pg", "~> 1.5"
gem "trilogy", "~> 2.9", require: false
gem "mysql2", "~> 0.5", require: false
gem "redis", "~> 5.0", require: false
gem "capybara", "~> 3.40", require: false
gem "cuprite", "~> 0.17", require: false
eval_gemfile "rails_gems.rb"
