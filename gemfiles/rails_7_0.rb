# frozen_string_literal: true

# Rails 7.0, for the comparison with Puma: pelton-rails/test/downstream/same_responses_test.rb.
source Gem.sources.to_a.first

gem "rails", "~> 7.0.0"
eval_gemfile "rails_gems.rb"
