# frozen_string_literal: true

# Applications that others wrote, which the lab measures on Pelton and Puma: engines in a small Rails application
# (pelton-lab's applications/rails_engines). Their gems have a folder of their own (tmp/rails_engines), where
# `bin/setup lab` installs them for each Ruby.
source Gem.sources.to_a.first

gem "rails", (RUBY_VERSION < "3.2") ? "~> 7.2.0" : "~> 8.1.0" # 7.2 is the last for Ruby 3.1
# 8.3 and later need Ruby 3.2, though they do not say so
gem "alchemy_cms", (RUBY_VERSION < "3.2") ? "~> 8.2.0" : "~> 8.4", require: false
gem "thredded", "~> 1.2", require: false

gem "pg", "~> 1.5", require: false
gem "puma", ">= 6.4", require: false
gem "redis", "~> 5.4", require: false

# Workers of Solid Queue with fibers, and a server of event streams, for the experiment jobs.
if RUBY_VERSION >= "3.3"
  gem "async", "~> 2.24", require: false
  gem "falcon", "~> 0.51", require: false
  gem "solid_queue", "~> 1.7", require: false
end

if RUBY_VERSION < "3.2"
  # Versions that need no compiler.
  gem "nokogiri", "~> 1.16.0", require: false
  gem "sqlite3", "~> 1.7.3", require: false
else
  gem "sqlite3", "< 2.10.2", require: false # as in rails_gems.rb
end
gem "json", "~> 2.10", require: false # Rails 7.2.2 cannot use json 3
eval_gemfile "ruby_gems.rb"
