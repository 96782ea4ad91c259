# frozen_string_literal: true

require "json"
require "pg"
require "trilogy"
require_relative "../support/record_databases"

# Values of all kinds in all calls that take one: each ends as in ActiveRecord, or is refused with an error that does not show the value,
# and the finds of other fibers in the same turn do not notice. The calls of test/support/values_comparison.rb on both libraries.
class ValuesTest < PeltonTest
  include RecordDatabases

  self.deadline = 200

  COMPARISON = File.expand_path("../support/values_comparison.rb", __dir__)
  IDS = ->(answer) { answer[1].scan(/\d+/) }
  FOUND = ->(theirs, ours) { theirs[0] == "is" && ours[0] == "is" }
  READ = /where|find|exists/
  WRITE = /create|update|insert|upsert|delete|destroy/
  private_constant :IDS, :FOUND, :READ, :WRITE

  # What differs, and why. The guide docs/start/from_activerecord.md says what users may meet.
  DIFFERENT = {
    "the key in NotFound's message, unless its name is filtered" => ->(_, _, _, ours) { ours[0] == "refused with the value" && ours[1].start_with?("Pelton::Record::NotFound") },
    "what is no word of an enum, no column and no SQL is named, as ActiveRecord does where it comes that far" => ->(call, _, _, ours) { ours[0] == "error with the value" && call.match?(/order\(v\)|pluck|state|where\(v\)|update_all\(v\)|\?/) },
    "a value that cannot be cast matches no row: ActiveRecord reads 0 or 1, or the number at the beginning, and what is no word of an enum as NULL" =>
      ->(call, _, theirs, ours) { call.match?(READ) && !call.match?(/not\(|each|#{WRITE}/o) && FOUND[theirs, ours] && ((IDS[ours] - IDS[theirs]).empty? || ours[1] == "false") },
    "nor is it excluded" => ->(call, _, theirs, ours) { call.match?(/not\(/) && FOUND[theirs, ours] && (IDS[theirs] - IDS[ours]).empty? },
    "nor deleted" => ->(call, _, theirs, ours) { call.match?(/delete|destroy/) && ours[1] == "[1, 2, 3]" },
    "nor a limit of a batch" => ->(call, _, _, _) { call.match?(/find_each\((?:start|batch_size: 1)/) },
    "beside values that can be cast it is left out, where ActiveRecord raises" => ->(call, _, theirs, ours) { call.match?(/\[v|or\(|not\(|\bv\)|v\.\./) && call.match?(READ) && theirs[0] != "is" && ours[0] == "is" },
    "and read as nothing by new and create" => ->(call, _, _, ours) { call.match?(/new\(|create/) && ours[1] == "nil" },
    "true and false are the texts true and false: ActiveRecord's are t and f" => ->(call, value, _, _) { call.match?(/name|note|token/) && %w[true false].include?(value) },
    "an object is written as its text, as new does it" => ->(call, value, theirs, _) { call.match?(/#{WRITE}|v\.\./o) && value.match?(/\A(?:to_s|Object|Class|Proc|Time|DateTime|[1a]\.\.[2b])\z/) },
    "a Set is a list" => ->(call, value, _, _) { value == "Set" && call.match?(READ) },
    "a day is the time at its beginning, on SQLite, too" => ->(call, value, _, _) { call.match?(/\bat: /) && value.match?(/2000-02-29|Date/) },
    "texts of bytes, and in other encodings, are taken as they are, or put into UTF-8" => ->(call, value, _, ours) { value.match?(/zero byte|bad UTF-8|binary|UTF-16|Latin-1|letters/) && ours[0] == "is" },
    "an integer of more than 64 bits is no number of the columns" => ->(call, value, _, ours) { value.match?(/2\*\*|1e300/) && %w[is error].include?(ours[0].split.first) && call.match?(/in_order|order|ratio|amount/) },
    "a decimal that SQLite cannot keep" => ->(call, value, _, _) { call.match?(/amount/) && value.match?(/NaN|rational/) },
    "first takes a number as a text, as limit does" => ->(call, value, _, _) { call.match?(/first\(v\)/) && value.include?("1") },
    "an infinite number is one of PostgreSQL's" => ->(call, value, _, _) { call.include?("having") && value.include?("Infinity") },
    "NaN is a text of SQLite's" => ->(call, value, _, _) { call.include?("name = ?") && value.include?("NaN") },
    "find_by takes any of a list" => ->(call, value, theirs, ours) { call.include?("find_by") && (value.start_with?("[") || value == "''") && FOUND[theirs, ours] },
    "a complex number is none" => ->(_, value, _, _) { value == "complex" }
  }.freeze

  def test_values
    found = [sqlite_file, postgres_address, mariadb_address].flat_map { |address| different(address) }
    unknown = found.reject { |difference| DIFFERENT.each_value.any? { |known| known.call(*difference) } }

    assert_empty unknown, unknown.first(50).map { |call, value, *answers| "#{call} with #{value}\n  ActiveRecord: #{answers[0].inspect[0, 300]}\n  Record:       #{answers[1].inspect[0, 300]}" }.join("\n")
    DIFFERENT.each { |reason, known| assert found.any? { |difference| known.call(*difference) }, "not needed any more: #{reason}" }
  end

  private

  def different(address)
    output, errors, status = run_ruby("load ARGV.shift", COMPARISON, address, gems: true, env: {"MT_NO_PLUGINS" => "1"}, deadline: 60)
    skip("there is no ActiveRecord") if status.exitstatus == 3
    raise errors unless status.success?
    found = JSON.parse(output)

    assert_operator found["answers"], :>, 8_000
    found["different"]
  end
end
