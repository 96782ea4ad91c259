# frozen_string_literal: true

require_relative "../../support/merging_program"

class ActiveRecordMergingTest < PeltonTest
  include MergingProgram

  on_each_database "two_hundred_finds_of_two_hundred_fibers" do |database|
    assert_equal "[1, true, 200]\n", merging_output(<<~RUBY, database)
      found = nil
      sent = queries { found = together(BASE...BASE + 200) { |id| Person.find(id) } }
      p [sent, found.map(&:id) == [*BASE...BASE + 200], found.map(&:object_id).uniq.size]
    RUBY
  end

  on_each_database "unique_columns_and_belongs_to" do |database|
    assert_equal "[1, 1, 1, 2, 3]\n[[\"p0\", \"p1\", nil], true, true]\n", merging_output(<<~RUBY, database)
      found = bosses = same = nil
      people = Person.order(:id).limit(3).to_a
      Person.update_all(boss_id: BASE)
      people.each(&:reload)
      sent = [
        queries { found = together(%w[p0 p1]) { |email| Person.find_by(email: email)&.email } },
        queries { bosses = together(people, &:boss) },
        queries { same = together([BASE, BASE]) { |id| Person.find_by(id: id) } },
        # nobody asks alone, too
        queries { found += together(%w[p1 nobody]) { |email| Person.find_by(email: email)&.email }.last(1) },
        queries { together([1, 2, 3]) { |id| Person.find_by(boss_id: id) } }
      ]
      p sent, [found, bosses.map(&:id).uniq == [BASE], !same.first.equal?(same.last)]
    RUBY
  end

  on_each_database "texts_that_a_statement_has_to_quote" do |database|
    assert_equal "[true, 1]\n", merging_output(<<~'RUBY', database)
      texts = ["o'hara", %q("), "\\", %q(\\'), "''", "') OR 1=1 --", "%", "?", "$1", ":name", "\n", ""]
      Person.insert_all!(texts.map { |text| {email: text, boss_id: 1} })
      found = nil
      sent = queries { found = together(texts) { |text| Person.find_by(email: text)&.email } }
      p [found == texts, sent]
    RUBY
  end

  on_each_database "what_is_not_merged" do |database|
    merged = {"scope" => 2, "default scope" => 2, "lock" => 2, "relation" => 2, "two conditions" => 2, "select" => 2,
              "without" => 2, "turned off" => 2,
              "with a connection" => 2, "alone" => 1, "strict" => 2}
    assert_equal merged.map { |name, number| "#{name}: #{number}\n" }.join, merging_output(<<~RUBY, database)
      show = ->(name, values = [BASE, BASE + 1], &block) { puts "\#{name}: \#{queries { together(values, &block) }}" }
      scoped = Class.new(Person) do
        self.table_name = "people"
        self.inheritance_column = nil
        default_scope { where("id > 0") }
      end
      silent = Class.new(Person) { self.table_name = "people"; self.inheritance_column = nil; self.merge_finds = false }
      show.call("scope") { |id| Person.where("id > 0").scoping { Person.find(id) } }
      show.call("default scope") { |id| scoped.find(id) }
      show.call("lock") { |id| Person.lock.find(id) }
      show.call("relation") { |id| Person.where("id > 0").find(id) }
      show.call("two conditions") { |id| Person.find_by(id: id, boss_id: 1) }
      show.call("select") { |id| Person.select(:id).find(id) }
      show.call("without") { |id| Person.without_merging { Person.find(id) } }
      show.call("turned off") { |id| silent.find(id) }
      show.call("with a connection") { |id| Person.lease_connection && Person.find(id) }
      show.call("alone", [BASE]) { |id| Person.find(id) }
      show.call("strict", Person.strict_loading.limit(2).to_a) do |person|
        (person.boss rescue nil) && nil
        Person.without_merging { Person.find(person.id) }
      end
    RUBY
  end

  on_each_database "in_a_transaction_a_find_sees_what_was_written" do |database|
    assert_equal "[[\"changed\", \"p1\"], \"p0\"]\n", merging_output(<<~RUBY, database)
      seen = together([BASE, BASE + 1]) do |id|
        next Person.find(id).email unless id == BASE
        Person.transaction do
          Person.find(id).update!(email: "changed") && Person.find(id).email.tap { |email| @seen = email } &&
            raise(ActiveRecord::Rollback)
        end
        @seen
      end
      p [seen, Person.find(BASE).email]
    RUBY
  end

  def test_the_query_cache_answers_what_the_task_has_found_before
    assert_equal "[1, 1, 2]\n", merging_output(<<~RUBY)
      find = -> { Pelton::ActiveRecord.with_connections { 2.times.map { Person.find(BASE) } } }
      after = -> do
        Pelton::ActiveRecord.with_connections do
          Person.find(BASE) && Person.where(id: 0).update_all(boss_id: 0) && SENT.clear && Person.find(BASE)
        end
      end
      p [queries { find.call }, (after.call && SENT.size), queries { together([1, 2]) { |_| Person.count } }]
    RUBY
  end

  def test_after_a_write_the_finds_of_a_task_join_others_again
    assert_equal "[1, 1]\n", merging_output(<<~RUBY)
      Pelton.spawn do
        Pelton::ActiveRecord.with_connections do
          Person.find(BASE)
          changed = Person.where(id: BASE).update_all(boss_id: 0)
          sent = queries do
            other = Pelton.spawn { Person.find(BASE + 1) }
            Person.find(BASE)
            other.await
          end
          p [changed, sent]
        end
      end.await
    RUBY
  end

  def test_subclasses_and_types
    assert_equal "[[\"Manager\", \"Manager\"], \"Person\", ActiveRecord::RecordNotFound, 1]\n", merging_output(<<~RUBY)
      ids = Array.new(2) { |index| Manager.create!(email: "m\#{index}").id }
      sent = queries { @found = together(ids) { |id| Manager.find(id).class.name } }
      p [@found, Person.find(BASE).class.name, together([BASE, ids.first]) { |id| Manager.find(id) }.first.class, sent]
    RUBY
  end

  def test_the_role_belongs_to_the_find
    assert_equal "[[:writing, :reading], 2]\n", merging_output(<<~RUBY)
      ActiveRecord::Base.connects_to(database: {
        writing: {adapter: "sqlite3", database: "test.sqlite3"},
        reading: {adapter: "sqlite3", database: "test.sqlite3", replica: true}
      })
      roles = [:writing, :reading]
      sent = queries do
        @found = together(roles * 2) do |role|
          ActiveRecord::Base.connected_to(role: role) { Person.find(BASE) && Person.current_role }
        end
      end
      p [@found.uniq, sent]
    RUBY
  end

  def test_a_caller_that_is_cancelled_leaves_the_query_to_the_others
    assert_equal "[\"p1\", Pelton::Cancelled]\n", merging_output(<<~RUBY)
      ann, bob = [BASE, BASE + 1].map { |id| Pelton.spawn { Person.find(id).email } }
      Pelton::Reactor.current.yield
      ann.cancel
      ended = begin
        ann.await
      rescue Pelton::Cancelled => error
        error.class
      end
      p [bob.await, ended]
    RUBY
  end

  def test_outside_of_a_reactor_and_in_a_child_after_a_fork
    assert_equal "[\"p0\", nil, ActiveRecord::RecordNotFound]\np1 in the child\np0\n",
      active_record_output(<<~RUBY, pool: 5)
        #{PEOPLE}
        p [Person.find(BASE).email, Person.find_by(email: "nobody"), (Person.find(0) rescue $!.class)]
        Pelton.run do
          task = Pelton.spawn { Person.find(BASE).email }
          Pelton::Reactor.current.yield
          child = fork do
            Pelton.run { $stdout.syswrite("\#{Person.find(BASE + 1).email} in the child\\n") }
            exit!(0)
          end
          Process.wait(child)
          puts task.await
        end
      RUBY
  end
end
