# frozen_string_literal: true

# Rails, for bin/test downstream: an application is generated and served. Its gems have a folder of their own (tmp/rails).
source Gem.sources.to_a.first

gem "pelton", path: ".."
gem "rails", "~> 7.2.0" # the last for Ruby 3.1

# Versions that need no compiler.
gem "nokogiri", "~> 1.16.0"
gem "pg", "~> 1.5"
gem "sqlite3", "~> 1.7.3"
eval_gemfile "ruby_gems.rb"
