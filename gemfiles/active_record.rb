# frozen_string_literal: true

# Active Record without Rails, for bin/test downstream, and the web frameworks that people use it with. Its gems are in
# the folder of Rails' (tmp/rails).
source Gem.sources.to_a.first

gem "pelton", path: ".."
gem "pelton-rails", path: "../pelton-rails"
gem "pelton-web", path: "../pelton-web"

gem "activerecord", (RUBY_VERSION < "3.2") ? "~> 7.2.0" : "~> 8.1.0", require: false
gem "grape", (RUBY_VERSION < "3.2") ? "~> 2.2" : "~> 3.0", require: false
gem "minitest", "~> 5.25" # for Pelton's tests
gem "roda", "~> 3.90", require: false
gem "sinatra", "~> 4.0", require: false
gem "sqlite3", (RUBY_VERSION < "3.2") ? "~> 1.7.3" : "< 2.10.2", require: false # as in rails_gems.rb

# Clients of databases.
group :integration do
  {"pg" => "~> 1.5", "trilogy" => "~> 2.9"}.each { |name, version| gem name, version, require: false }
end
eval_gemfile "ruby_gems.rb"
