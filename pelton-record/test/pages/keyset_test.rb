# frozen_string_literal: true

require "bigdecimal"
require_relative "../support/blog"

class KeysetTest < PeltonTest
  include Blog

  TIMES = ["2026-01-01 00:00:00.000001", "2026-01-01 00:00:00", "2026-10-25 01:30:00.123456"].map { |text| Time.parse("#{text} UTC") }

  def setup
    super
    real = {sqlite: :double, postgres: :real, mysql: :double}.fetch(database.database_type)
    table(:things) do
      Integer :number, null: false
      Integer :rank
      String :name
      Time :at
      Date :on
      Float :double
      column :single, real
      BigDecimal :price, size: [12, 4]
      TrueClass :flag
    end
    @things = model(:Thing) { self.table_name = "things" }
    random = Random.new(7)
    rows = Array.new(40) do |index|
      {number: random.rand(4), rank: [nil, 1, 2].sample(random: random), name: [nil, "", "a", "B", "é", "'", "a "].sample(random: random), at: [nil, *TIMES].sample(random: random),
       on: [nil, Date.new(2026, 2, 28), Date.new(1, 1, 1)].sample(random: random), double: [nil, 0.1, 1e300, -2.5].sample(random: random), single: [nil, 0.1, 0.2].sample(random: random),
       price: [nil, BigDecimal("0.1"), BigDecimal("12345678.1234")].sample(random: random), flag: [nil, true, false].sample(random: random)}
    end
    database[:things].multi_insert(rows)
  end

  def test_every_order_gives_every_row_once_forwards_and_backwards
    columns = %i[number rank name at on double single price flag]
    orders = [[], [:id], [{id: :desc}]] + columns.flat_map { |name| [[name], [{name => :desc}]] }
    orders += columns.each_cons(2).flat_map { |one, other| [[one, other], [{one => :desc}, other], [one, {other => :desc}], [{one => :desc, other => :desc}]] }
    orders += ["rank NULLS FIRST", "rank DESC NULLS LAST", "name NULLS LAST, rank DESC NULLS FIRST", "number, rank, name DESC, id DESC"].zip
    orders.each { |order| assert_walks order.empty? ? @things.all : @things.order(*order) }
  end

  def test_the_database_s_own_order_is_kept
    [[:rank], [{rank: :desc}], ["rank NULLS FIRST"], ["rank DESC NULLS LAST"]].each do |order|
      assert_equal @things.order(*order).map(&:rank), @things.order(*order).keyset(limit: 50).map(&:rank)
    end
  end

  def test_conditions_joins_and_selections_stay
    assert_walks @things.where(rank: 1).order(:name)
    assert_walks @things.where(rank: 1).or(@things.where(rank: nil)).order(:name, number: :desc)
    assert_walks @things.select(:id, :at).order(:at)
    page = @things.order(:at).keyset(limit: 3)

    assert_equal @things.columns, page.first.values.keys
  end

  def test_the_key_alone_may_be_another
    skip "SQLite has no type uuid" if database.database_type == :sqlite
    database.drop_table?(:tickets)
    type = (database.database_type == :postgres) ? :uuid : :"char(36)"
    database.create_table(:tickets) do
      column :key, type, primary_key: true
      Integer :rank
    end
    tickets = model(:Ticket) { self.table_name = "tickets" }
    database[:tickets].multi_insert(Array.new(12) { |index| {key: SecureRandom.uuid, rank: [nil, index % 2].sample} })

    assert_walks tickets.order(:rank)
    assert_walks tickets.all
  end

  def test_a_key_of_two_columns
    places = seats
    database[:seats].multi_insert([1, 2, 3].product([1, 2, 3]).map { |line, number| {line: line, number: number, taken_by: (number == 2) ? "b" : "a"} })

    assert_walks places.order(:taken_by)
    assert_walks places.order(number: :desc)
  end

  def test_sqlite_s_times_of_several_forms
    skip "only SQLite compares times as texts" unless database.database_type == :sqlite
    @things.dataset.delete
    ["2026-01-01 00:00:00", "2026-01-01 00:00:00.000000", "2026-01-01T00:00:00Z", "2026-01-01 00:00:00"].each { |text| 3.times { database.run("INSERT INTO things (number, at) VALUES (1, '#{text}')") } }

    assert_walks @things.order(:at)
    assert_walks @things.order(at: :desc)
  end

  def test_the_condition_lets_an_index_find_the_beginning
    cursor = ->(*order) { @things.order(*order).keyset(limit: 1).links[:next] }
    sql = ->(*order) { queries { @things.order(*order).keyset(**cursor.call(*order)).to_a }.last }
    tuple = database.database_type != :mysql

    assert_match(tuple ? /\(.things.\..number., .things.\..id.\) > \(/ : /number. >= /, sql.call(:number))
    assert_match(/number. >= /, sql.call(:number, {id: :desc}))
    with_null_last = "rank NULLS LAST"
    _, there, null = queries { @things.order(with_null_last).keyset(limit: 1).then { |page| @things.order(with_null_last).keyset(limit: 50, **page.links[:next]).to_a } }

    refute_match(/ IS NULL/, there[/WHERE.*ORDER/], "no index finds a value or NULL")
    assert_match(/WHERE \(.things.\..rank. IS NULL\)/, null)
  end

  def test_orders_that_are_no_columns
    [Sequel.lit("LENGTH(name)"), Sequel.function(:lower, :name), Sequel[:others][:name], :nothing].each do |order|
      assert_match(/keyset pages are ordered by columns of things/, assert_raises(ArgumentError, order.inspect) { @things.order(order).keyset }.message)
    end
  end

  def test_types_that_cannot_be_found_again
    skip "of MariaDB" unless database.database_type == :mysql
    database.run("ALTER TABLE things ADD short FLOAT, ADD kind ENUM('z', 'a')")
    other = model(:Other) { self.table_name = "things" }

    %i[short kind].each { |name| assert_raises(ArgumentError) { other.order(name).keyset } }
  end

  def test_a_cursor_that_was_changed_or_is_another_list_s
    cursor = @things.order(:number).keyset(limit: 1).links[:next][:after]
    digest, *values = JSON.parse(cursor.tr("-_", "+/").unpack1("m"))
    write = ->(list) { [JSON.generate(list)].pack("m0").tr("+/", "-_").delete("=") }

    assert_equal 1, @things.order(:number).keyset(after: write.call([digest, *values]), limit: 1).size
    changed = ["", "x", "\0", "é", cursor[0..-3], "#{cursor}x", "x" * 20_000, :a, 7, {}, [], write.call([digest + 1, *values]), write.call([digest, values[0]]), write.call([digest, *values, 1]), write.call([]),
      write.call({}), write.call([digest, "1; DROP TABLE things", 1]), write.call([digest, nil, 1]), write.call([digest, 1.5, 1]), write.call([digest, 2**70, 1]), write.call([digest, {"a" => 1}, 1]), write.call([digest, [1], 1]),
      write.call([digest, true, 1]), @things.order(number: :desc).keyset(limit: 1).links[:next][:after], @things.order(:number, :rank).keyset(limit: 1).links[:next][:after], Author.order(:age).keyset(limit: 1).links[:first].to_s]
    changed.each { |one| assert_raises(Pelton::Record::InvalidCursor, one.inspect[0, 80]) { @things.order(:number).keyset(after: one) } }
    forged = {at: "2026-13-01", on: "x", name: "a\0", price: "1e5", double: "1", flag: "t"}
    forged.delete(:at) && forged.delete(:on) if database.database_type == :sqlite # texts, there
    forged.each do |name, value|
      first, = JSON.parse(@things.order(name).keyset(limit: 1).links[:next][:after].tr("-_", "+/").unpack1("m"))

      assert_raises(Pelton::Record::InvalidCursor, name) { @things.order(name).keyset(before: write.call([first, value, 1])) }
    end
  end

  private

  def assert_walks(rows)
    all = rows.to_a.map(&:pk)
    [1, 7].each do |limit|
      pages = [rows.keyset(limit: limit)]
      while (on = pages.last.links[:next])
        pages << rows.keyset(limit: limit, **on)
        break if pages.size > 200
      end
      there = pages.flat_map { |page| page.map(&:pk) }

      assert_equal all.sort_by(&:to_s), there.sort_by(&:to_s), "#{rows.to_sql}, #{limit} a page"
      back = [pages.last]
      while (prev = back.first.links[:prev])
        back.unshift(rows.keyset(limit: limit, **prev))
        break if back.size > 200
      end

      assert_equal there, back.flat_map { |page| page.map(&:pk) }, "#{rows.to_sql} backwards, #{limit} a page"
    end
    numbered = (1..(all.size / 7 + 1)).flat_map { |number| rows.page(number, limit: 7).map(&:pk) }

    assert_equal rows.keyset(limit: 100).map(&:pk), numbered, rows.to_sql
  end
end
