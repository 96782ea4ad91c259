# frozen_string_literal: true

# ActiveRecord, for programs that compare Record with it; they end with status 3 where it is not installed.
begin
  gem "sqlite3", "~> 1.7"
  gem "activerecord", "~> 7.2.0"
  gem "json", "< 3" # which ActiveRecord before 7.2.3 needs
rescue LoadError
  exit 3
end
require "json"
require "active_record"
require "pelton/record"
