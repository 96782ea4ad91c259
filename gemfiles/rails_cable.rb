# frozen_string_literal: true

# Rails, for benchmark/rails_cable.rb.
source Gem.sources.to_a.first

gem "pelton", path: ".."
gem "actioncable", ">= 7.2"
gem "railties", ">= 7.2"
gem "puma"
eval_gemfile "ruby_gems.rb"
