# frozen_string_literal: true

require_relative "../../support/merging_program"

# Keys that no row has, or that are no keys: the answer is that of a model without merging, alone and beside fifty
# finds, which are unharmed.
class BadKeysTest < PeltonTest
  include MergingProgram

  KEYS = <<~'RUBY'
    class Plain < ActiveRecord::Base
      self.table_name = "people"
      self.inheritance_column = nil
      def self.name = "Person" # in messages
    end
    KEYS = {
      "hash" => {"id" => 1}, "nested hash" => {"id" => {"$gt" => 0}}, "array" => [1, 2], "nested array" => [[1, [2]]],
      "empty array" => [], "nil" => nil,
      "infinity" => Float::INFINITY, "minus infinity" => -Float::INFINITY, "nan" => Float::NAN, "float" => 1.5,
      "true" => true, "symbol" => :name,
      "2**70" => 2**70, "-2**70" => -(2**70), "2**63" => 2**63, "0" => 0, "-1" => -1, "zero byte" => "p\0",
      "only a zero byte" => "\0", "bad UTF-8" => "\xff\xfe",
      "binary" => "\xff".b, "huge text" => "x" * 1_000_000, "empty text" => "", "quotes" => "x' OR '1'='1",
      "number in a text" => "#{BASE}", "range" => (1..2),
      "an object" => Object.new, "time" => Time.at(0), "many keys" => Array.new(300) { |number| -number }
    }
    FINDERS = {
      "find" => ->(model, key) { model.find(key) }, "find_by id" => ->(model, key) { model.find_by(id: key) },
      "find_by email" => ->(model, key) { model.find_by(email: key) },
      "find_by key" => ->(model, key) { model.find_by(key) unless key.is_a?(String) } # which is SQL
    }
    def answer(model, finder, key)
      found = finder.call(model, key)
      found.respond_to?(:map) ? found.map(&:id) : found&.id
    rescue StandardError, SystemStackError => error
      [error.class, error.message.b[0, 300].gsub(/0x\h+/, "")]
    end
    GOOD = ->(id) { Person.find(id).id }
  RUBY

  on_each_database "a_bad_key_alone_and_among_fifty_good_ones" do |database|
    assert_equal "[]\n[]\n[]\ntrue\n", merging_output(<<~RUBY, database, pool: 10)
      #{KEYS}
      different, different_together, harmed = [], [], []
      ids = [*BASE...BASE + 50]
      answers = KEYS.flat_map do |name, key|
        expected = FINDERS.map { |_, finder| answer(Plain, finder, key) }
        alone = FINDERS.map { |_, finder| answer(Person, finder, key) }
        bad = FINDERS.map { |_, finder| Pelton.spawn { answer(Person, finder, key) } }
        good = together(ids, &GOOD)
        beside = bad.map(&:await)
        harmed << name unless good == ids
        FINDERS.keys.zip(expected, alone, beside) do |finder, own, one, other|
          different << [name, finder, own, one] unless one == own
          different_together << [name, finder, own, other] unless other == own
        end
        expected
      end
      p different, different_together, harmed, answers.uniq.size > 20
    RUBY
  end
end
