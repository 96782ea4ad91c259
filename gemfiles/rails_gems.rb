# frozen_string_literal: true

# What an application of Rails needs in the tests, beside Rails itself: each version has a Gemfile of its own, and one
# folder has the gems of all (tmp/rails).
gem "pelton", path: ".."
gem "pelton-rails", path: "../pelton-rails"
gem "puma", ">= 6.4", require: false # the tests compare its responses
gem "image_processing", "~> 1.2", require: false # Active Storage's variants

if RUBY_VERSION < "3.2"
  # Versions that need no compiler.
  gem "nokogiri", "~> 1.16.0"
  gem "sqlite3", "~> 1.7.3"
else
  gem "sqlite3", "< 2.10.2" # later ones let the handler of a lock raise: Pelton::ActiveRecord::SQLiteLocks is for all
end
eval_gemfile "ruby_gems.rb"
