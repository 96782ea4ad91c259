# frozen_string_literal: true

# What Sequel's own specs need, for `rake sequel:specs`.
eval_gemfile "../Gemfile"

eval_gemfile "ruby_gems.rb"

group :sequel do
  gem "minitest-global_expectations", "~> 1.0", require: false
  gem "minitest-hooks", "~> 1.5", require: false
  gem "sqlite3", "~> 1.7.3", require: false # the last for Ruby 3.1
end
