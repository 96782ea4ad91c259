# frozen_string_literal: true

# Gems for tracing and for reports of errors, which keep state of a request: pelton-rails/test/downstream checks that
# requests keep theirs. They lie in Rails' folder (tmp/rails).
source Gem.sources.to_a.first

gem "pelton", path: ".."
gem "pelton-rails", path: "../pelton-rails"
gem "activerecord", "~> 7.2.0" # the last for Ruby 3.1
gem "pg", "~> 1.5"
gem "rack", "~> 3.1.0" # as Rails 7.2
gem "redis-client", "~> 0.22"
gem "trilogy", "~> 2.9"

gem "opentelemetry-sdk", "~> 1.5"
%w[active_record net_http pg rack redis trilogy].each { |name| gem "opentelemetry-instrumentation-#{name}" }
gem "sentry-ruby"
gem "datadog"
eval_gemfile "ruby_gems.rb"
