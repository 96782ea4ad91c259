# frozen_string_literal: true

# Clients of databases, of Redis and of a browser, for the tests that need such servers.
group :integration do
  gem "pg", "~> 1.5", require: false
  gem "trilogy", "~> 2.9", require: false
  gem "mysql2", "~> 0.5", require: false
  gem "redis", "~> 5.0", require: false
  gem "turbo-rails", "~> 2.0", require: false
  gem "solid_cable", "~> 3.0", require: false
  gem "capybara", "~> 3.40", require: false
  gem "cuprite", "~> 0.17", require: false
end
