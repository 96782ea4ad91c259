# frozen_string_literal: true

require "json"
require "test_helper"
require_relative "../support/activerecord_scopes"

# Default scopes and the scopes of associations do what they do in ActiveRecord, in all ways to load and to write: the calls of
# test/support/activerecord_scopes.rb on both libraries.
class ActiveRecordScopesTest < PeltonTest
  self.deadline = 120

  COMPARISON = File.expand_path("../support/activerecord_comparison.rb", __dir__)

  # What differs, and why. The guide docs/start/from_activerecord.md says it, too.
  DIFFERENT = {
    "where.missing finds what has no related row: ActiveRecord finds it as soon as one row in the middle leads nowhere, and asks the wrong table of a model's own" =>
      /where\.missing\(:(?:granddaughters|badges|labels|marked_labels|firms|workers|branches|daughters|marked_workers|workers_of_marked|country|boss)\)/,
    "the counter is right when a has_many of another name has lost rows" => /firm\.(?:sorted_branches\.(?:clear|delete)|marked_branches( = \[\]|\.delete_all))/,
    "build_ of a has_one leaves the row that is there until the new one is saved" => /firm\.build_seat/,
    "create_ of a has_one removes the row that was there, whatever the default order" => /firm\.create_seat/,
    "destroy in a through that cannot be written is an ArgumentError" => /firm\.workers\.destroy\(/,
    "a limit of a default scope is for the rows of one object, and not for those of several that are loaded at once" =>
      /\bFew::.*(?:includes|preload|\.where\.associated|\.sum\(|one\.\w+\.map\(&:id\)|Array\(one\.\w+\)|branches <<)/,
    "count works where the default scope selects several columns, and a subquery takes the key alone" => /\bChosen::.*(?:count|where\(branches: )/,
    "what was added is read with the columns that the default scope selects" => /\bChosen::.*(?:branches|labels) << /,
    "includes of a polymorphic association does not apply the default scope's limit" => /Remark\.includes\(:subject\)/,
    "the default scope counts for each table of a self-referential through" => /\bTenant::Firm.*\bgranddaughters\b/,
    "an association's condition takes the place of the default scope's on the same column when several load, too" => /\bTenant::Firm\.(?:includes|preload)\(:marked_(?:workers|labels)\)/,
    "SQL that names the table is right in where.associated and where.missing" => /\bText::Firm\.where\.(?:associated|missing)\(/
  }.freeze

  Comparison::Scopes::VARIANTS.each_key do |variant|
    define_method(:"test_#{variant.downcase}") do
      calls = Comparison::Scopes.calls(variant)
      found = different(calls)
      unknown = found.reject { |call, *| DIFFERENT.each_value.any? { |pattern| call.match?(pattern) } }

      assert_empty unknown, unknown.map { |call, *answers| "#{call}\n  ActiveRecord: #{answers[0].inspect[0, 400]}\n  Record:       #{answers[1].inspect[0, 400]}" }.join("\n")
      assert_operator calls.size, :>, 700
    end
  end

  private

  def different(calls)
    output, errors, status = run_ruby("load ARGV.shift", COMPARISON, stdin: JSON.generate(calls), gems: true, env: {"MT_NO_PLUGINS" => "1"}, deadline: 100)
    skip("there is no ActiveRecord") if status.exitstatus == 3
    raise errors unless status.success?
    JSON.parse(output)
  end
end
