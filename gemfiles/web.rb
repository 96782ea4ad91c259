# frozen_string_literal: true

# Gems that people use with pelton-web, for bin/test downstream: a browser, other test frameworks and template engines.
# They have a folder of their own (tmp/web).
source Gem.sources.to_a.first

gem "pelton", path: ".."
gem "pelton-rails", path: "../pelton-rails", require: false
gem "pelton-sequel", path: "../pelton-sequel"
gem "pelton-web", path: "../pelton-web"

gem "activerecord", "~> 7.2.0", require: false # the last for Ruby 3.1
gem "bcrypt", "~> 3.1"
gem "brakeman", "~> 6.2"
gem "capybara", "~> 3.40"
gem "cuprite", "~> 0.15"
gem "factory_bot", "~> 6.5"
gem "haml", "~> 6.3"
gem "marcel", "~> 1.0"
gem "minitest", "~> 5.25"
gem "nokogiri", "~> 1.16.0" # needs no compiler
gem "omniauth", "~> 2.1"
gem "rack-attack", "~> 6.7"
gem "rack-cors", "~> 3.0"
gem "rack-test", "~> 2.1"
gem "rails-dom-testing", "~> 2.2"
gem "rake", "~> 13.0"
gem "roda", "~> 3.90"
gem "rspec", "~> 3.13"
gem "sinatra", "~> 4.0"
gem "slim", "~> 5.2"
gem "sqlite3", (RUBY_VERSION < "3.2") ? "~> 1.7.3" : "< 2.10.2", require: false # as in rails_gems.rb
gem "trilogy", "~> 2.9", require: false
eval_gemfile "ruby_gems.rb"
