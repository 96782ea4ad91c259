# frozen_string_literal: true

# ruby merging_model.rb SEED NUMBER, behind MergingProgram::PEOPLE: random operations of many fibers at the same moment
# on a model whose finds are merged, beside a Hash that has the same rows. Prints each answer that is not the Hash's,
# and how many finds shared queries.

# Rounds of operations. In a round each fiber works on rows of its own and reads those that no fiber changes, so that
# the Hash knows each answer.
class MergingModel
  FIBERS = 20
  OWN = 5 # rows that a fiber changes

  attr_reader :rows, :wrong

  def initialize(random, people, base)
    @random = random
    @people = people
    @base = base
    @rows = people.order(:id).to_h { |person| [person.id, person.email] } # what the table has
    @mutable = FIBERS * OWN
    @stable = @rows.size - @mutable
    @wrong = []
  end

  # @return [Integer] the number of operations
  def round
    fibers = Array.new(FIBERS) { |fiber| Pelton.spawn { Array.new(1 + @random.rand(4)) { operate(fiber) }.size } }
    fibers.sum(&:await)
  end

  private

  def operate(fiber)
    case @random.rand(100)
    when 0...35 then found = readable(fiber) and check(:find, found) { email(@people.find(found)) }
    when 35...40 then check(:missing, 0) { @people.find(@base + 10_000 + @random.rand(50)) }
    when 40...60 then check_by_email(fiber)
    when 60...70 then check(:boss, boss = readable(fiber)) { email(@people.new(boss_id: boss).boss) }
    when 70...78 then change(own(fiber))
    when 78...84 then change_in_transaction(own(fiber), fail: @random.rand(2).zero?)
    when 84...88 then check(:in_transaction, found = readable(fiber)) do
      @people.transaction { email(@people.find(found)) }
    end
    when 88...91 then check(:scoped, found = readable(fiber)) { email(@people.where("id > 0").find(found)) }
    when 91...93 then check(:lock, found = readable(fiber)) { @people.transaction { email(@people.lock.find(found)) } }
    when 93...96 then check_cached(readable(fiber))
    when 96...98 then recreate(own(fiber))
    when 98 then check_other_case(@base + @mutable + @random.rand(@stable))
    else Pelton::Reactor.current.yield
    end
  end

  # Rows that this fiber changes, and those that nobody does.
  def readable(fiber) = (@random.rand(3).zero? ? own(fiber) : @base + @mutable + @random.rand(@stable))

  def own(fiber) = @base + fiber * OWN + @random.rand(OWN)

  def email(person) = person&.email

  def check(name, id, expected = id.zero? ? :not_found : @rows[id] || :not_found)
    answer = begin
      yield
    rescue ActiveRecord::RecordNotFound
      :not_found
    end
    answer = :not_found if answer.nil?
    @wrong << [name, id, expected, answer] unless answer == expected
  end

  def check_by_email(fiber)
    id = readable(fiber)
    return unless (email = @rows[id])
    key = @random.rand(10).zero? ? "nobody#{@random.rand(5)}" : email
    check(:email, id, (key == email) ? id : :not_found) { @people.find_by(email: key)&.id }
  end

  # The database's collation decides whether this is the same text.
  def check_other_case(id)
    key = @rows.fetch(id).upcase
    alone = @people.without_merging { @people.find_by(email: key) }
    check(:case, id, alone ? id : :not_found) { @people.find_by(email: key)&.id }
  end

  def check_cached(id)
    check(:cached, id) do
      @people.cache do
        Array.new(3) { email(@people.find(id)) }.uniq.then { |emails| (emails.size == 1) ? emails.first : emails }
      end
    end
  end

  def change(id)
    return unless @rows[id]
    fresh = "e#{id}-#{@random.rand(1_000_000)}"
    @people.find(id).update!(email: fresh)
    @rows[id] = fresh
    check(:changed, id) { email(@people.find(id)) }
  end

  def change_in_transaction(id, fail:)
    return unless @rows[id]
    fresh = "t#{id}-#{@random.rand(1_000_000)}"
    @people.transaction do
      @people.find(id).update!(email: fresh)
      check(:within, id, fresh) { email(@people.find(id)) }
      raise ActiveRecord::Rollback if fail
    end
    @rows[id] = fresh unless fail
    check(:after, id) { email(@people.find(id)) }
  end

  def recreate(id)
    if @rows[id]
      @people.find(id).destroy!
      @rows.delete(id)
    else
      @people.create!(id: id, email: @rows[id] = "n#{id}-#{@random.rand(1_000_000)}", boss_id: @base)
    end
    check(:recreated, id) { email(@people.find(id)) }
  end
end

seed, number = ARGV.map(&:to_i)
finds = []
Pelton::ActiveRecord::Merging::Batch.prepend(Module.new { define_method(:join) { |key| finds << key && super(key) } })
model = MergingModel.new(Random.new(seed), Person, BASE)
done = 0
Pelton.run { done += model.round until done >= number }
puts model.wrong.first(10).map(&:inspect)
puts "operations: #{done >= number}, joined: #{finds.any?}, right: #{model.wrong.empty?}, rows: " \
  "#{Person.order(:id).pluck(:id, :email).to_h == model.rows.sort.to_h}"
warn "#{done} operations, #{finds.size} finds joined others" if ENV["MERGING_REPORT"]
