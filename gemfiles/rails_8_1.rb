# frozen_string_literal: true

# Rails 8.1, for bin/test downstream where Ruby is new enough, and for bin/test rubies.
source Gem.sources.to_a.first

gem "rails", "~> 8.1.0"
gem "solid_queue", "~> 1.7", require: false
gem "async", "~> 2.24", require: false if RUBY_VERSION >= "3.3" # Solid Queue's own fibers
eval_gemfile "rails_servers.rb"
eval_gemfile "rails_gems.rb"

# Of examples/assistant.
gem "propshaft", require: false
gem "ruby_llm", "~> 1.0", require: false
