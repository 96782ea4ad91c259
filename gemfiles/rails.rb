# frozen_string_literal: true

# Rails 7.2, for bin/test downstream: an application is generated and served. Its gems have a folder of their own
# (tmp/rails).
source Gem.sources.to_a.first

gem "rails", "~> 7.2.0" # the last for Ruby 3.1
eval_gemfile "rails_servers.rb"
eval_gemfile "rails_gems.rb"
