# frozen_string_literal: true

# Gives values of all kinds to each call that takes one, of ActiveRecord and of Record, on the same rows of the database at ARGV[0], and
# prints as JSON what differs: [call, value, ActiveRecord's answer, Record's]. A separate program, as activerecord_comparison.rb.

require_relative "activerecord_gems"
require "set"
require "trilogy" if ARGV.fetch(0).start_with?("mysql")

# The values, the calls, and what an answer is.
module Values
  # In each value that a message could show.
  MARK = "s3cr3t"
  ODD = Class.new { def to_s = "1 OR '#{MARK}'=1" }
  LONG = "#{MARK}#{"x" * 3_000}"
  private_constant :ODD, :LONG

  ALL = {
    "nil" => nil, "true" => true, "false" => false, "0" => 0, "1" => 1, "-1" => -1, "2**40" => 2**40, "2**63" => 2**63, "-2**70" => -2**70, "1.5" => 1.5, "1.0" => 1.0, "1e300" => 1e300,
    "Infinity" => Float::INFINITY, "-Infinity" => -Float::INFINITY, "NaN" => Float::NAN, "decimal" => BigDecimal("1.25"), "decimal NaN" => BigDecimal("NaN"), "rational" => Rational(1, 3), "complex" => Complex(1, 2),
    "{}" => {}, "{a: text}" => {"a" => MARK}, "{id: 1}" => {id: 1}, "{name: Ann}" => {name: "Ann"}, "nested Hash" => {"a" => {"b" => [MARK]}}, "{$ne: ''}" => {"$ne" => ""},
    "[]" => [], "[nil]" => [nil], "[1]" => [1], "[Ann]" => ["Ann"], "[1, nil, text]" => [1, nil, MARK], "[text, text]" => [MARK, "b"], "list of pairs" => [[MARK, "b"], %w[c d]], "[[1], [2]]" => [[1], [2]],
    "[Hash]" => [{"a" => MARK}], "Set" => Set[1, "Ann"], "[2**70, 1]" => [2**70, 1], "[NaN]" => [Float::NAN], "[zero byte]" => ["#{MARK}\0"], "[bad UTF-8]" => ["#{MARK}\xFF"],
    "'0'" => "0", "'1'" => "1", "'1.5'" => "1.5", "'1abc'" => "1#{MARK}", "'abc'" => MARK, "'Ann'" => "Ann", "'true'" => "true", "spaces" => "  ", "' 1 '" => " 1 ", "''" => "", "'2**70'" => (2**70).to_s,
    "injection" => "1 OR '#{MARK}'=1", "quote" => "#{MARK}'b\\", "question mark" => "#{MARK} ? :name", "zero byte" => "#{MARK}\0b", "zero byte alone" => "\0", "bad UTF-8" => "#{MARK}\xFF\xFE",
    "binary" => "#{MARK}\xE2\x28".b, "binary text" => "Ann".b, "UTF-16" => "Ann".encode("UTF-16LE"), "Latin-1" => "#{MARK}\u00fc".encode("ISO-8859-1"), "emoji" => "#{MARK}\u{1f600}", "3,000 letters" => LONG,
    ":Ann" => :Ann, ":abc" => MARK.to_sym, "Time" => Time.at(0).utc, "Date" => Date.new(2000, 2, 29), "DateTime" => DateTime.new(2000, 2, 29), "'2000-02-29'" => "2000-02-29", "'2000-02-30'" => "2000-02-30",
    "to_s" => ODD.new, "Object" => Object.new, "Class" => String, "Proc" => -> { 1 }, "1..2" => (1..2), "a..b" => ("a".."b")
  }.freeze

  COLUMNS = %w[id name note age ratio amount active born at token state].freeze
  # In each call, `m` is the model, and `v` the value.
  READS = [
    *COLUMNS.flat_map { |name| ["m.where(#{name}: v).order(:id).ids", "m.where(#{name}: [v, nil]).order(:id).ids", "m.find_by(#{name}: v)&.id"] },
    "m.where.not(name: v).order(:id).ids", "m.where.not(id: v).order(:id).ids", "m.where(id: 1).or(m.where(name: v)).order(:id).ids", "m.where(name: 'x').rewhere(name: v).order(:id).ids", "m.where(age: v..).order(:id).ids", "m.where(name: v..).order(:id).ids",
    "m.where('name = ?', v).ids", "m.where('age = ?', v).ids", "m.where('name = :v', v: v).ids", "m.where('id IN (?)', v).order(:id).ids", "m.where('name = ? AND token = ?', 'Ann', v).ids", "m.where(['token = ?', v]).ids",
    "m.where(name: v, token: 't1').ids", "m.where(v).order(:id).ids", "m.joins(:parts).where(parts: {note: v}).ids", "m.joins(:parts).where('parts.id': v).ids",
    "numbers(m.find(v))", "numbers(m.find([v]))", "numbers(m.find([v, 1]))", "numbers(m.where(name: 'Ann').find(v))", "m.exists?(v)", "m.exists?(name: v)", "m.exists?(id: v)",
    "numbers(m.find_by_sql(['SELECT * FROM valued WHERE token = ?', v]))", "m.group(:name).having('count(*) > ?', v).count.size", "m.limit(v).order(:id).ids",
    "m.order(:id).limit(2).offset(v).ids", "m.order(v).ids.size", "m.order(name: v).ids.size", "m.reorder(v).ids.size", "m.pluck(v).size",
    "numbers(m.find_each(start: v))", "numbers(m.find_each(batch_size: 1, finish: v))", "numbers(m.find_each(batch_size: v))", "numbers(m.first(v))", "Array(m.take(v)).size", "numbers(m.last(v))",
    "m.new(v).name", "m.create_with(v).new.name",
    *(COLUMNS - %w[id token]).map { |name| "m.new(#{name}: v).#{name}" }
  ].freeze
  WRITES = [
    *(COLUMNS - %w[id]).flat_map { |name| ["m.create!(#{name}: v).reload.#{name}", "m.where(id: 1).update_all(#{name}: v); m.find(1).#{name}"] },
    "m.find(1).tap { |one| one.update!(name: v) }.reload.name", "m.find(1).update_columns(age: v); m.find(1).age", "m.find(1).update_column(:name, v); m.find(1).name", "m.find(1).update(v); m.find(1).name",
    "m.insert_all([{name: v}]); m.order(:id).last.name", "m.insert_all([{age: v}]); m.order(:id).last.age", "m.insert_all([v]); m.count", "m.upsert_all([{id: 1, name: v}]); m.find(1).name", "m.find_or_create_by!(name: v).name",
    "m.create_with(age: v).find_or_create_by!(name: 'New').age", "m.find(1).tap { |one| one.part_ids = v }.reload.part_ids", "m.find(1).parts.create!(note: v).reload.note",
    "m.where(name: v).delete_all; m.order(:id).ids",
    "m.find(1).increment!(:age, v).age", "m.where(id: 1).update_all(['name = ?', v]); m.find(1).name", "m.where(id: 1).update_all(v); m.find(1).name",
    "m.transaction(requires_new: true) { numbers(m.lock.find(v)) }"
  ].freeze
  BESIDE = ["numbers(m.find(v))", "m.find_by(token: v)&.id", "m.find_by(id: v)&.id", "m.where(token: v).take&.id", "m.where('token = ?', v).take&.id", "m.exists?(id: v)", "m.where(id: [1, v]).ids"].freeze

  class << self
    def models(parent)
      part = Class.new(parent) { self.table_name = "parts" }
      model = Class.new(parent) { self.table_name = "valued" }
      const_set((parent <= Pelton::Record::Model) ? :Ours : :Theirs, Module.new.tap { |space| space.const_set(:Part, part) && space.const_set(:Valued, model) })
      part.belongs_to :valued, class_name: model.name, optional: true
      model.has_many :parts, class_name: part.name, foreign_key: :valued_id
      model.enum :state, {low: 0, high: 1}
      model
    end

    # @return [Array<String>] the kind of answer, and what it says
    def answer(model, code, value)
      calls = (@calls ||= Hash.new { |all, one| all[one] = module_eval("->(m, v) { #{one} }", __FILE__, __LINE__) })
      ["is", plain(Timeout.timeout(2) { calls[code].call(model, value) })]
    rescue StandardError, ScriptError, SystemStackError => error
      message = error.message.dup.force_encoding(Encoding::UTF_8).scrub("?")
      [kind(error, message), "#{error.class}: #{message[0, 200]} #{error.backtrace.grep(/lib.(?:pelton|sequel)/).first(2)}"]
    end

    # Theirs, or ours, in the same words.
    def kind(error, message)
      found = case error
      when Pelton::Error then error.retriable? ? "retriable" : "refused"
      when Sequel::DatabaseError, Sequel::InvalidValue, ActiveRecord::ActiveRecordError, ActiveModel::RangeError, ActiveModel::UnknownAttributeError, ActiveModel::ForbiddenAttributesError then "error"
      else error.instance_of?(ArgumentError) ? "error" : "unclear"
      end
      shown?(message) ? "#{found} with the value" : found
    end

    def shown?(message) = message.include?(MARK) || message.include?((2**70).to_s) || message.include?((2**63).to_s)

    def numbers(found) = found.respond_to?(:map) ? found.map(&:id) : found&.id

    # ActiveRecord reads times as UTC.
    def plain(value)
      case value
      when Time, DateTime then value.to_time.utc.strftime("%F %T")
      when Date then value.iso8601
      when BigDecimal then value.to_s("F")
      when Sequel::SQL::Blob, String then (value.bytesize > 100) ? "#{value.bytesize} bytes" : String.new(value).force_encoding(Encoding::UTF_8).inspect
      when Array then "[#{value.map { |one| plain(one) }.join(", ")}]"
      else value.inspect
      end
    end

    # Ours ends as theirs, or is refused, or finds nothing where theirs is an error.
    def same?(theirs, ours, writes)
      return true if theirs == ours || ours[0] == "refused" || ours[0] == "error" || ours[0] == theirs[0] && ours[0] == "error with the value"
      theirs[0] != "is" && ours[0] == "is" && !writes && ["nil", "[]", "false", "0"].include?(ours[1])
    end
  end
end

address = ARGV.fetch(0)
database = Pelton::Record.connect(address, pool: 20)
database.timezone = :utc
%i[parts valued].each { |name| database.drop_table?(name) }
database.create_table(:valued) do
  primary_key :id
  String :name, size: 50
  String :note, text: true
  Integer :age
  Float :ratio
  BigDecimal :amount, size: [10, 2]
  TrueClass :active
  Date :born
  DateTime :at
  String :token, size: 50, unique: true
  Integer :state
end
database.create_table(:parts) do
  primary_key :id
  Integer :valued_id
  String :note, size: 50
end
database[:valued].import(%i[name note age ratio amount active born at token state],
  [["Ann", "n", 1, 1.5, 1.25, true, Date.new(2000, 2, 29), Time.utc(2000, 2, 29), "t1", 0], ["Bob", nil, 0, 0, 0, false, nil, nil, "t2", 1], [nil, "", nil, nil, nil, nil, nil, nil, "0", nil]])
database[:parts].import(%i[valued_id note], [[1, "Ann"], [2, nil]])
ActiveRecord::Base.establish_connection(case database.database_type
when :sqlite then {adapter: "sqlite3", database: address.delete_prefix("sqlite://")}
when :postgres then address.sub("postgres:", "postgresql:")
else {adapter: "trilogy", host: "127.0.0.1", port: address[/:(\d+)/, 1].to_i, username: "root", database: "test", ssl_mode: Trilogy::SSL_DISABLED}
end)
ActiveRecord::Base.belongs_to_required_by_default = false
theirs, ours = [ActiveRecord::Base, Pelton::Record::Model].map { |parent| Values.models(parent) }

different = []
good = database[:valued].exclude(name: nil).order(:id).select_map(%i[id token])
expected = good.cycle.first(25) * 2
Values::ALL.each do |name, value|
  Values::READS.each do |code|
    answers = [theirs, ours].map { |model| Values.answer(model, code, value) }
    different << [code, name, *answers] unless Values.same?(*answers, false)
  end
  Values::WRITES.each do |code|
    answers = [[theirs, ActiveRecord::Rollback], [ours, Sequel::Rollback]].map do |model, rollback|
      found = nil
      model.transaction { (found = Values.answer(model, code, value)) && raise(rollback) }
      found
    rescue StandardError, ScriptError => error
      found || ["unclear", error.message]
    end
    different << [code, name, *answers] unless Values.same?(*answers, true)
  end
  # The same turn of the loop: the finds of the other fibers share its query.
  Values::BESIDE.each do |code|
    beside = Pelton.run do
      tasks = expected.each_with_index.map do |(id, token), index|
        Pelton.spawn { Values.answer(ours, code, value) } if index == 25
        Pelton.spawn { (index < 25) ? [ours.find(id).id, ours.find_by(token: token).token] : [ours.find_by(id: id).id, ours.find_by(token: token).token] }
      end
      tasks.map { |task| task.await rescue $!.inspect } # standard:disable Style/RescueModifier
    end
    different << [code, name, ["is", "beside 50 others"], ["unclear", beside.uniq.inspect]] unless beside == expected
  end
end
rows = ours.order(:id).pluck(:name, :token, :age)
different << ["the rows", "", ["is", ""], ["unclear", rows.inspect]] unless rows == [["Ann", "t1", 1], ["Bob", "t2", 0], [nil, "0", nil]]
puts JSON.generate({"different" => different, "answers" => Values::ALL.size * (Values::READS.size + Values::WRITES.size + Values::BESIDE.size)})
