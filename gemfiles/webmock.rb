# frozen_string_literal: true

# WebMock and VCR, which stub the requests of Pelton's client, and Faraday with the examples for its adapters, for
# bin/test downstream. They lie in the folder of pelton-web's (tmp/web).
source Gem.sources.to_a.first

gem "pelton", path: ".."

gem "faraday", "~> 2.9"
gem "minitest", "~> 5.25"
gem "rspec", "~> 3.13"
gem "vcr", "~> 6.3"
gem "webmock", "~> 3.23"
eval_gemfile "ruby_gems.rb"
