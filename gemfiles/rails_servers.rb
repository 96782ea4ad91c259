# frozen_string_literal: true

gem "turbo-rails", "~> 2.0", require: false

# Clients of databases, of Redis and of a browser, for the tests that need such servers.
group :integration do
  {"pg" => "~> 1.5", "trilogy" => "~> 2.9", "mysql2" => "~> 0.5", "redis" => "~> 5.0", "solid_cable" => "~> 3.0",
   "capybara" => "~> 3.40", "cuprite" => "~> 0.17"}.each { |name, version| gem name, version, require: false }
end
