# frozen_string_literal: true

# Rails, for benchmark/rails_fragments.rb.
source Gem.sources.to_a.first

gem "pelton", path: ".."
gem "railties", ">= 8.0"
gem "activerecord"
gem "dalli"
gem "puma"
gem "sqlite3"
