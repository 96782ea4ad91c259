# frozen_string_literal: true

require "json"
require "test_helper"

# Record answers as ActiveRecord does: the calls of test/support/activerecord_calls/ on both, with the same models and rows.
class ActiveRecordTest < PeltonTest
  self.deadline = 120

  COMPARISON = File.expand_path("../support/activerecord_comparison.rb", __dir__)
  CALLS = Dir[File.expand_path("../support/activerecord_calls/*.txt", __dir__)].to_h { |file| [File.basename(file, ".txt"), File.readlines(file, chomp: true)] }

  # The calls that are answered otherwise, and why. The guide docs/start/from_activerecord.md says it, too.
  DIFFERENT = {
    "a value that cannot be cast matches no row, and is not cut to its first digits" => [
      'Author.where(id: "1 OR 1=1").count', 'Author.find_by(id: "1; DROP TABLE authors")&.id', 'Author.find("1-ann")',
      'Author.new(age: "12abc").age', 'Author.new(age: "abc").age'
    ],
    "what could come from outside is no SQL, and Arel is not there" => [
      'Author.order("lower(name) DESC").ids', 'Author.order("length(name), name").ids', 'Author.order(Arel.sql("length(name) desc, id desc")).ids',
      'Author.pluck("id, name")', 'Author.pluck("length(name)")', 'Author.pluck(Arel.sql("length(name) + 1"))',
      "Author.where(Author.arel_table[:age].gt(20)).ids", %(Author.where("name = '%s'", "x").to_a)
    ],
    "a String that is changed in place is not noticed" => [
      'Author.where(id: 1).first.then { |one| one.name << "x"; [one.changed?, one.changes["name"]] }',
      'Author.where(id: 1).first.then { |one| one.name << "x"; one.save; one.reload.name }'
    ],
    "a destroyed object is not frozen" => [
      "Post.find(1).then { |one| one.destroy; [one.new_record?, one.persisted?, one.destroyed?, one.frozen?] }",
      'Post.find(1).then { |one| one.destroy; one.title = "x" }', "Author.find(1).tap(&:delete).frozen?"
    ],
    "Rollback in an inner transaction rolls back the outer one, whose part it is" => [
      'Author.transaction { Author.create!(name: "x"); Author.transaction { Author.create!(name: "y"); raise Rollback } } || Author.pluck(:name).last'
    ],
    "a rollback gives lock_version back" => [
      'Author.find(1).tap { |one| Author.transaction { one.update!(name: "x"); raise Rollback }; one.save! }.then { |one| Author.find(1).name }',
      'Author.find(1).tap { |one| Author.transaction { one.update!(name: "x"); raise Rollback } }.lock_version',
      'Author.new(name: "x").tap { |one| Author.transaction { one.save!; one.update!(age: 3); raise Rollback } }.then { |one| [one.new_record?, one.id, one.age, one.changed.sort] }'
    ],
    "touch does not add to lock_version" => ["Author.find(1).tap(&:touch).saved_changes.keys.sort"],
    "a new parent that is invalid is not left out" => ["Post.new(author: Author.new).tap(&:valid?).errors.full_messages"],
    "objects are no groups" => ["Post.group(:author).count.transform_keys { |one| one&.name }"],
    "an object that is marked as readonly is never destroyed" => ["Author.find(1).tap(&:readonly!).destroy"],
    "lock! says which class of error" => ['Author.find(1).tap { |one| one.name = "x"; one.lock! }'],
    "an empty store is no change" => ['Author.find(1).dup.changed.sort - ["created_at", "updated_at"]']
  }.freeze

  # The answers that differ, by their calls. The child runs once for all tests.
  def self.different
    @different ||= begin
      output, errors, status = yield("load ARGV.shift", COMPARISON, stdin: JSON.generate(CALLS.values.flatten))
      raise errors unless status.success? || status.exitstatus == 3
      (status.exitstatus == 3) ? :absent : JSON.parse(output).to_h { |call, *answers| [call, answers] }
    end
  end

  def different
    found = self.class.different { |*arguments, **options| run_ruby(*arguments, **options, gems: true, env: {"MT_NO_PLUGINS" => "1"}, deadline: 100) }
    (found == :absent) ? skip("there is no ActiveRecord") : found
  end

  CALLS.each do |about, calls|
    define_method(:"test_#{about}") do
      found = different.slice(*calls).except(*DIFFERENT.values.flatten)
      assert_empty found, found.map { |call, answers| "#{call}\n  ActiveRecord: #{answers[0].inspect[0, 300]}\n  Record:       #{answers[1].inspect[0, 300]}" }.join("\n")
    end
  end

  def test_what_differs_is_known
    assert_empty DIFFERENT.values.flatten - different.keys, "these are answered as ActiveRecord does, now"
  end
end
